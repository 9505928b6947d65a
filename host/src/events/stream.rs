//! The way of an event from the host to whoever subscribed.
//!
//! Invariant: sending never waits. Until somebody subscribes there is no buffer either: a
//! process for one call pays nothing for what it does not use.

use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::HostEvent;

/// Events that a subscriber may be behind.
const BUFFER: usize = 1024;

/// Where a host sends its events.
#[derive(Default)]
pub(crate) struct EventStream {
    sender: OnceLock<broadcast::Sender<Arc<HostEvent>>>,
}

/// The events of a host, from the subscription on. Ends when the host is gone.
pub struct Events {
    receiver: broadcast::Receiver<Arc<HostEvent>>,
}

/// What a subscriber hears next.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// An event.
    Event(Arc<HostEvent>),
    /// So many events were lost, because this subscriber was too slow for them.
    Missed(u64),
}

impl EventStream {
    /// Subscribes to what happens from now on.
    pub fn subscribe(&self) -> Events {
        let sender = self.sender.get_or_init(|| broadcast::Sender::new(BUFFER));
        Events {
            receiver: sender.subscribe(),
        }
    }

    /// Whether anybody would hear an event.
    pub fn is_heard(&self) -> bool {
        let sender = self.sender.get();
        sender.is_some_and(|sender| sender.receiver_count() > 0)
    }

    /// Tells an event to everybody who subscribed.
    pub fn send(&self, event: HostEvent) {
        if let Some(sender) = self.sender.get() {
            // That the last subscriber has gone meanwhile is no fault.
            let _ = sender.send(Arc::new(event));
        }
    }
}

impl Events {
    /// Waits for the next event; `None`: the host is gone.
    ///
    /// Dropping the returned future loses nothing.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.receiver.recv().await {
            Ok(event) => Some(Heard::Event(event)),
            Err(RecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Mended;

    fn event(number: u64) -> HostEvent {
        HostEvent::Mended(Mended {
            name: "a".into(),
            module: None,
            snapshot: number,
        })
    }

    #[tokio::test]
    async fn who_is_too_slow_hears_how_much_was_lost_and_goes_on() {
        let stream = EventStream::default();
        let (mut slow, mut other) = (stream.subscribe(), stream.subscribe());
        let sent = BUFFER as u64 + 7;
        for number in 0..sent {
            stream.send(event(number));
        }
        assert_eq!(slow.next().await, Some(Heard::Missed(7)));
        assert_eq!(
            slow.next().await,
            Some(Heard::Event(Arc::new(event(7)))),
            "the oldest that is kept"
        );
        drop(slow);
        assert!(stream.is_heard());
        drop(stream);
        assert_eq!(other.next().await, Some(Heard::Missed(7)));
        let mut heard = 0;
        while let Some(Heard::Event(_)) = other.next().await {
            heard += 1;
        }
        assert_eq!(heard, BUFFER);
    }

    #[test]
    fn nothing_is_kept_for_nobody() {
        let stream = EventStream::default();
        stream.send(event(1));
        assert!(!stream.is_heard() && stream.sender.get().is_none());
        drop(stream.subscribe());
        assert!(!stream.is_heard());
    }
}
