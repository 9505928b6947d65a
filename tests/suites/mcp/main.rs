//! Agents at the other end: the program serves real clients over the Model Context
//! Protocol, in both of its eras.

mod calls;
mod client;
mod ends;
mod http;
mod listing;
mod news;
mod offers;
mod prompts;
mod serving;
