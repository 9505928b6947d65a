//! Why serving ends badly.

/// Why a server ended badly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client does not speak the protocol.
    #[error("the client did not begin as the protocol says: {0}")]
    NotBegun(String),
    /// It would be open to everybody.
    #[error("`{0}` can be reached from other machines, and there is no token")]
    NoToken(std::net::SocketAddr),
    /// The address can not be had.
    #[error("`{0}` can not be listened on: {1}")]
    Listen(std::net::SocketAddr, String),
    /// The server itself failed.
    #[error("the server failed: {0}")]
    Failed(String),
}

impl ServeError {
    /// What to do about it, where there is something to do.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoToken(_) => {
                "give it one with `--token-file FILE` or `--token-env NAME`, or listen on 127.0.0.1"
            }
            Self::Listen(..) => {
                "end the other program, or choose another port; port 0 is any free one"
            }
            Self::NotBegun(_) => {
                "it is a client of the Model Context Protocol that starts this program"
            }
            Self::Failed(_) => return None,
        })
    }
}
