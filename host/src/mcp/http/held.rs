//! What is held until all of an answer was taken, or nobody wants it any more.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::response::Response;

/// A body, and what is dropped with it.
struct Holding<T> {
    body: Body,
    _held: T,
}

/// The same answer, which holds something.
pub(super) fn holding<T: Send + Unpin + 'static>(answer: Response, held: T) -> Response {
    answer.map(|body| Body::new(Holding { body, _held: held }))
}

impl<T: Unpin> HttpBody for Holding<T> {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
