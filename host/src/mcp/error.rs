//! Why serving ends badly.

use std::fmt;
use std::path::PathBuf;

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
    /// There is no token where it should be.
    #[error("{from} gives no token: {why}")]
    Token {
        /// What says where it is.
        from: String,
        /// What is wrong there.
        why: String,
    },
    /// A file for TLS is none.
    #[error("the {part} for TLS, `{}`, can not be used: {why}", file.display())]
    Tls {
        /// Which of the two.
        part: TlsPart,
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The server itself failed.
    #[error("the server failed: {0}")]
    Failed(String),
}

/// A file that TLS needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsPart {
    /// The certificate.
    Certificate,
    /// Its private key.
    Key,
}

impl fmt::Display for TlsPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certificate => "certificate",
            Self::Key => "private key",
        })
    }
}

impl ServeError {
    /// What to do about it, where there is something to do.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoToken(_) => {
                "give it one with `--token-file FILE`, `--token-env NAME` or the key `serve.http.token`, or listen on 127.0.0.1"
            }
            Self::Listen(..) => {
                "end the other program, or choose another port; port 0 is any free one"
            }
            Self::NotBegun(_) => {
                "it is a client of the Model Context Protocol that starts this program"
            }
            Self::Token { .. } => {
                "put a long random text there, for instance `openssl rand -hex 32`"
            }
            Self::Tls {
                part: TlsPart::Certificate,
                ..
            } => "name a file in PEM form, with the certificates of its issuers behind its own",
            Self::Tls {
                part: TlsPart::Key, ..
            } => "name the file in PEM form with the private key of the certificate",
            Self::Failed(_) => return None,
        })
    }
}
