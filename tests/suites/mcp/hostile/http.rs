//! A client over HTTP with a session. Whatever it does, its server stays the same.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;

use anyhow::{Context as _, Result, anyhow, ensure};
use prx_tests::Stage;
use serde_json::{Value, json};

use super::Hostile;
use prx_tests::served::{Answer, Line, Served, Session, descriptors, eventually};

/// Connections that one client has at a time.
const AT_ONCE: usize = 200;

pub struct Client {
    served: Served,
    session: Session,
    /// Requests whose answers are not read.
    open: Vec<Box<dyn Line>>,
    descriptors: usize,
}

impl Client {
    pub fn start(stage: &Stage) -> Result<Self> {
        let served = Served::start(stage, &[])?.ready()?;
        served.assert_healthy()?;
        // Each module that was called keeps its code open.
        for tool in ["echo", "skill_tell"] {
            let called = served.request("tools/call", json!({ "name": tool }), &[])?;
            ensure!(called.message()?["result"].is_object(), "{called:?}");
        }
        let session = served.session()?;
        let descriptors = descriptors(served.process())?;
        Ok(Self {
            served,
            session,
            open: Vec::new(),
            descriptors,
        })
    }

    fn begin(&self, message: &str) -> Result<Box<dyn Line>> {
        self.served.begin_in(&self.session, message)
    }
}

impl Hostile for Client {
    fn answer_to(&mut self, bytes: &[u8]) -> Result<Value> {
        let answer = self.served.post(bytes, &self.session.headers())?;
        let message = answer.message()?;
        let is_unread = matches!(message["error"]["code"].as_i64(), Some(-32700 | -32600));
        let expected = if is_unread { 400 } else { 200 };
        ensure!(answer.status == expected, "{answer:?}");
        Ok(message)
    }

    fn answers_to(&mut self, messages: &[String]) -> Result<Vec<Value>> {
        let (waits, others): (Vec<&String>, Vec<&String>) = messages
            .iter()
            .partition(|text| text.contains("skill_wait"));
        for message in waits {
            self.open.push(self.begin(message)?);
        }
        self.wait_for_calls(self.open.len())?;
        let mut answers = Vec::new();
        for some in others.chunks(AT_ONCE) {
            let mut lines = Vec::new();
            for message in some {
                lines.push(self.begin(message)?);
            }
            for line in &mut lines {
                answers.push(Answer::read(&mut **line)?.message()?);
            }
        }
        Ok(answers)
    }

    fn send_and_vanish(&mut self, messages: &[String]) -> Result<()> {
        let mut lines = Vec::new();
        for message in messages {
            lines.push(self.begin(message)?);
        }
        drop(lines);
        // Its calls end with its session, which it does not end itself.
        let ended = self
            .served
            .send("DELETE", "/mcp", &self.session.headers(), "")?;
        ensure!(ended.status == 204, "{ended:?}");
        let gone = self
            .served
            .send("DELETE", "/mcp", &self.session.headers(), "")?;
        ensure!(gone.status == 404, "{gone:?}");
        self.session = self.served.session()?;
        Ok(())
    }

    fn vanish_within(&mut self, message: &str) -> Result<()> {
        let mut line = self.served.connect()?;
        write!(
            line,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{}",
            self.served.address,
            message.len(),
            &message[..message.len() / 2],
        )?;
        line.shut(Shutdown::Both);
        Ok(())
    }

    fn send_without_end(&mut self, bytes: usize) -> Result<()> {
        let mut line = self.served.connect()?;
        write!(
            line,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
            self.served.address,
        )?;
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..bytes / piece.len() {
            write!(line, "{:x}\r\n", piece.len())?;
            line.write_all(&piece)?;
            line.write_all(b"\r\n")?;
        }
        line.write_all(b"0\r\n\r\n")?;
        let answer = Answer::read(&mut *line)?;
        ensure!(answer.status == 413, "{answer:?}");
        ensure!(answer.body.contains("4 MiB"), "{answer:?}");
        Ok(())
    }

    fn wait_for_calls(&mut self, count: usize) -> Result<()> {
        let count = u64::try_from(count)?;
        self.served
            .wait_for("prx_host_running_calls", |running| running >= count)
    }

    fn cancel(&mut self, ids: &[u64]) -> Result<()> {
        for id in ids {
            let told = json!({
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": { "requestId": id },
            });
            let told = self
                .served
                .post(told.to_string(), &self.session.headers())?;
            ensure!(told.status == 202, "{told:?}");
        }
        // They end without an answer.
        for mut line in self.open.drain(..) {
            let mut rest = String::new();
            line.read_to_string(&mut rest).context("the rest")?;
            ensure!(!rest.contains("\"result\""), "{rest}");
        }
        Ok(())
    }

    fn assert_healthy(&mut self) -> Result<()> {
        self.served.assert_healthy()?;
        eventually(|| {
            let now = descriptors(self.served.process())?;
            if now > self.descriptors {
                return Err(anyhow!(
                    "{now} descriptors are open, {} were",
                    self.descriptors
                ));
            }
            Ok(())
        })
    }
}
