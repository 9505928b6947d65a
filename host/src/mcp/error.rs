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
    /// A certificate or a key is of no use.
    #[error("`{}` can not be used for TLS: {why}", file.display())]
    Tls {
        /// The file.
        file: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
    },
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
            Self::Tls { .. } => {
                "give a certificate with those of its issuers and its private key, both in PEM form"
            }
            Self::NotBegun(_) => {
                "it is a client of the Model Context Protocol that starts this program"
            }
            Self::Failed(_) => return None,
        })
    }
}
