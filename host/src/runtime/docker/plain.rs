//! Questions to an engine for which bollard has no words, or too narrow ones: what only
//! Podman answers, and lists that must be read whatever is in them.
//!
//! Invariant: an answer costs bounded memory. Whoever asks sets the deadline.

use bollard::errors::Error;
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderMap};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use super::connect::Address;

/// More than ten thousand containers need.
const LONGEST: usize = 64 << 20;

/// Where Podman answers in words of its own, in the oldest version that will do.
pub(super) const PODMAN: &str = "/v4.0.0/libpod";

/// Asks for what is at a path.
pub(super) async fn get<T: DeserializeOwned>(address: &Address, path: &str) -> Result<T, Error> {
    let answer = ask(address, path).await?;
    Ok(serde_json::from_slice(answer.body())?)
}

/// Asks for a sign of life; its headers say which engine it is, and cost it no work.
pub(super) async fn ping(address: &Address) -> Result<HeaderMap, Error> {
    let answer = ask(address, "/_ping").await?;
    Ok(answer.into_parts().0.headers)
}

async fn ask(address: &Address, path: &str) -> Result<Response<Bytes>, Error> {
    let answer = match address {
        Address::Socket(socket) => ask_at(UnixStream::connect(socket).await?, path).await?,
        Address::Tcp(at) => ask_at(TcpStream::connect(at).await?, path).await?,
    };
    if answer.status().is_success() {
        return Ok(answer);
    }
    Err(Error::DockerResponseServerError {
        status_code: answer.status().as_u16(),
        message: message(answer.body()),
    })
}

async fn ask_at<S>(stream: S, path: &str) -> Result<Response<Bytes>, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::get(path)
        .header(HOST, "engine")
        .body(Empty::<Bytes>::new())?;
    let answered = async {
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = Limited::new(body, LONGEST).collect().await;
        let body = body.map_err(too_long_or)?;
        Ok(Response::from_parts(head, body.to_bytes()))
    };
    // The connection does its work while it is waited for, and says nothing of its own.
    tokio::select! {
        biased;
        answered = answered => answered,
        Err(error) = connection => Err(error.into()),
    }
}

fn too_long_or(error: Box<dyn std::error::Error + Send + Sync>) -> Error {
    let error = if error.is::<LengthLimitError>() {
        format!("its answer is longer than {LONGEST} bytes").into()
    } else {
        error
    };
    std::io::Error::other(error).into()
}

/// What went wrong, in the words of the engine.
fn message(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        message: String,
    }
    match serde_json::from_slice(body) {
        Ok(Refusal { message }) => message,
        Err(_) => String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned(),
    }
}
