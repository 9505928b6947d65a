//! Standard output: whole lines, one after the other.
//!
//! Invariants: a line that was begun is ended, whoever gives up waiting; what waits to be
//! written is bounded, because nothing new is read meanwhile.

use std::io;
use std::sync::{Mutex as Lock, MutexGuard, PoisonError};

use futures::FutureExt as _;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Semaphore};

/// Messages that are made into text at one time; more wait.
const MESSAGES: usize = 64;
/// Room that is kept for the next messages.
const KEPT: usize = 1 << 20;

/// Where lines are written.
pub(super) struct Output<W> {
    waiting: Lock<Waiting>,
    pipe: Mutex<Pipe<W>>,
    turns: Semaphore,
}

/// What nobody writes yet.
#[derive(Default)]
struct Waiting {
    /// Whole lines.
    lines: Vec<u8>,
    /// Some lines have nobody who waits for them to be written.
    owed: bool,
}

struct Pipe<W> {
    /// `None`: it is closed.
    writer: Option<W>,
    /// What is being written.
    lines: Vec<u8>,
    /// How much of that was.
    written: usize,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    pub fn new(writer: W) -> Self {
        Self {
            waiting: Lock::default(),
            pipe: Mutex::new(Pipe {
                writer: Some(writer),
                lines: Vec::new(),
                written: 0,
            }),
            turns: Semaphore::new(MESSAGES),
        }
    }

    /// Writes one message.
    pub async fn send(&self, message: &impl serde::Serialize) -> io::Result<()> {
        let _turn = self.turns.acquire().await.map_err(io::Error::other)?;
        let text = serde_json::to_vec(message)?;
        self.add(&text, false);
        self.flush().await
    }

    /// Writes one message, if the client takes it without waiting; `None`: it does not, and
    /// [`sent`](Self::sent) has the end of it.
    pub fn send_at_once(&self, message: &impl serde::Serialize) -> Option<io::Result<()>> {
        match serde_json::to_vec(message) {
            Ok(text) => self.add(&text, false),
            Err(error) => return Some(Err(error.into())),
        }
        self.flush().now_or_never()
    }

    /// Writes what was added before. It counts among those who wait, as every message does.
    pub async fn sent(&self) -> io::Result<()> {
        let _turn = self.turns.acquire().await.map_err(io::Error::other)?;
        self.flush().await
    }

    /// Adds a line, which is written before [`ready`](Self::ready) returns.
    pub fn owe(&self, text: &str) {
        self.add(text.as_bytes(), true);
    }

    fn add(&self, text: &[u8], owed: bool) {
        let mut waiting = self.waiting();
        waiting.lines.extend_from_slice(text);
        waiting.lines.push(b'\n');
        waiting.owed |= owed;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the client has taken what was for it before.
    pub async fn ready(&self) -> io::Result<()> {
        // Taking a turn waits behind all who wait already.
        let turn = self.turns.acquire().await.map_err(io::Error::other)?;
        drop(turn);
        let is_owed = self.waiting().owed;
        if is_owed {
            self.flush().await?;
        }
        Ok(())
    }

    /// Writes all lines that wait, in one go.
    async fn flush(&self) -> io::Result<()> {
        let mut pipe = self.pipe.lock().await;
        let written = self.write(&mut pipe).await;
        if written.is_err() {
            pipe.writer = None;
        }
        written
    }

    async fn write(&self, pipe: &mut Pipe<W>) -> io::Result<()> {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let writer = pipe.writer.as_mut().ok_or_else(closed)?;
        loop {
            if pipe.written == pipe.lines.len() {
                pipe.lines.clear();
                pipe.lines.shrink_to(KEPT);
                pipe.written = 0;
                let mut waiting = self.waiting();
                std::mem::swap(&mut waiting.lines, &mut pipe.lines);
                // Until all is written, whoever reads next must see to it.
                waiting.owed &= !pipe.lines.is_empty();
            }
            if pipe.lines.is_empty() {
                return writer.flush().await;
            }
            match writer.write(&pipe.lines[pipe.written..]).await? {
                0 => return Err(closed()),
                count => pipe.written += count,
            }
        }
    }

    /// Writes what waits, and nothing after it.
    pub async fn close(&self) -> io::Result<()> {
        self.flush().await?;
        self.pipe.lock().await.writer = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::io::AsyncReadExt as _;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn lines_stay_whole_when_those_who_write_them_give_up() {
        let (into, mut from) = tokio::io::duplex(16);
        let output = Arc::new(Output::new(into));
        for number in 0..50 {
            let text = format!("{number}-").repeat(20);
            // The pipe is full: nobody gets to an end.
            let given_up = timeout(Duration::ZERO, output.send(&text)).await;
            assert!(given_up.is_err());
        }
        output.owe("owed");
        for _ in 0..3 {
            assert!(timeout(Duration::ZERO, output.ready()).await.is_err());
        }
        let writing = tokio::spawn(async move {
            output.ready().await?;
            output.close().await
        });
        let mut read = String::new();
        from.read_to_string(&mut read).await.unwrap();
        writing.await.unwrap().unwrap();
        let mut expected: Vec<String> = (0..50)
            .map(|number| format!("\"{}\"", format!("{number}-").repeat(20)))
            .collect();
        expected.push("owed".to_owned());
        assert_eq!(read.lines().collect::<Vec<_>>(), expected);
    }

    #[tokio::test]
    async fn who_does_not_read_is_waited_for() {
        let (into, mut from) = tokio::io::duplex(16);
        let output = Arc::new(Output::new(into));
        let sending: Vec<_> = (0..=MESSAGES)
            .map(|_| {
                let output = Arc::clone(&output);
                tokio::spawn(async move { output.send(&"x".repeat(100)).await })
            })
            .collect();
        while output.turns.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(
            timeout(Duration::from_millis(20), output.ready())
                .await
                .is_err()
        );
        let reading = tokio::spawn(async move { from.read_to_end(&mut Vec::new()).await });
        for sent in sending {
            sent.await.unwrap().unwrap();
        }
        output.ready().await.unwrap();
        output.close().await.unwrap();
        reading.await.unwrap().unwrap();
        assert!(output.send(&1).await.is_err());
    }
}
