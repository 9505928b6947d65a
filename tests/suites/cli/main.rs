//! The program as a person or a script meets it: what it prints, where, and with which
//! exit code.

mod call;
mod check;
mod forged;
mod hanging;
mod inspect;
mod install;
mod install_grants;
mod install_safety;
mod lint;
mod list;
mod mcp;
mod place;
mod processes;
mod ready;
mod remove;
mod run;
mod terminal;
mod watch;
