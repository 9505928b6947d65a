//! Agents at the other end: the program serves real clients over the Model Context
//! Protocol, in both of its eras.

mod agent;
mod alone;
mod calls;
mod client;
mod ends;
mod following;
mod hostile;
mod http;
mod leaving;
mod limits;
mod lines;
mod listing;
mod methods;
mod news;
mod offers;
mod prompts;
mod reloads;
mod serving;
mod tls;
