//! The client at the other ends of standard input and output. One that vanishes takes its
//! server with it, and the next one starts another.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use prx_tests::Stage;
use serde_json::{Value, json};

use super::Hostile;
use crate::client::{self, Era};
use prx_tests::served::{descriptors, eventually};

pub struct Client<'a> {
    stage: &'a Stage,
    inner: client::Client,
    /// Descriptors of a server that has served.
    descriptors: usize,
}

impl<'a> Client<'a> {
    pub fn start(stage: &'a Stage) -> Result<Self> {
        let mut inner = client::Client::start(Era::Sessions, stage, &[])?;
        inner.wait_for_tool("skill_wait")?;
        let mut client = Self {
            stage,
            inner,
            descriptors: 0,
        };
        client.check()?;
        // Each module that was called keeps its code open.
        client.inner.call("echo", json!({}))?;
        client.inner.call("skill_tell", json!({}))?;
        client.descriptors = descriptors(client.inner.process())?;
        Ok(client)
    }

    fn check(&mut self) -> Result<()> {
        let listed = self.inner.request("tools/list", json!({}))?;
        let tools = listed["tools"].as_array().context("a list")?;
        ensure!(
            tools.iter().any(|tool| tool["name"] == "trivial"),
            "{listed}"
        );
        let arguments = json!({ "text": "abc", "numbers": [2, 40] });
        let sum = self.inner.call("trivial", arguments)?;
        ensure!(sum["structuredContent"]["sum"] == 42, "{sum}");
        Ok(())
    }

    fn next_answer(&mut self) -> Result<Value> {
        loop {
            let message = self.inner.next()?;
            if message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    /// Goes away; the server must do so, too.
    fn vanish(&mut self) -> Result<()> {
        let code = self.inner.vanish()?;
        ensure!(code == Some(0), "the server ended with {code:?}");
        *self = Self::start(self.stage)?;
        Ok(())
    }

    fn waiting_calls(&self) -> Result<usize> {
        // Each has the folder of its gate open.
        let gate: PathBuf = self.stage.path("gate");
        let folder = format!("/proc/{}/fd", self.inner.process());
        let open =
            std::fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.path().read_link().ok());
        Ok(open.filter(|path| *path == gate).count())
    }
}

impl Hostile for Client<'_> {
    fn answer_to(&mut self, bytes: &[u8]) -> Result<Value> {
        self.inner.send_raw(&[bytes, b"\r\n\n"].concat())?;
        self.next_answer()
    }

    fn answers_to(&mut self, messages: &[String]) -> Result<Vec<Value>> {
        self.inner
            .send_aside((messages.join("\n") + "\n").into_bytes())?;
        // The last one behind them shows that there are no more.
        let mut answers = Vec::new();
        let waits = messages.iter().filter(|text| text.contains("skill_wait"));
        let expected = messages.len() - waits.count();
        while answers.len() < expected {
            answers.push(self.next_answer()?);
        }
        Ok(answers)
    }

    fn send_and_vanish(&mut self, messages: &[String]) -> Result<()> {
        self.inner
            .send_aside((messages.join("\n") + "\n").into_bytes())?;
        self.vanish()
    }

    fn vanish_within(&mut self, message: &str) -> Result<()> {
        let half = &message.as_bytes()[..message.len() / 2];
        self.inner.send_raw(half)?;
        self.vanish()
    }

    fn send_without_end(&mut self, bytes: usize) -> Result<()> {
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..bytes / piece.len() {
            self.inner.send_raw(&piece)?;
        }
        self.inner.send_raw(b"\n")?;
        let answer = self.next_answer()?;
        ensure!(answer["error"]["code"] == -32600, "{answer}");
        ensure!(answer["id"].is_null(), "{answer}");
        Ok(())
    }

    fn wait_for_calls(&mut self, count: usize) -> Result<()> {
        eventually(|| {
            let waiting = self.waiting_calls()?;
            ensure!(waiting == count, "{waiting} calls wait");
            Ok(())
        })
    }

    fn cancel(&mut self, ids: &[u64]) -> Result<()> {
        for id in ids {
            let params = json!({ "requestId": id });
            self.inner.notify("notifications/cancelled", params)?;
        }
        self.wait_for_calls(0)
    }

    fn assert_healthy(&mut self) -> Result<()> {
        self.check()?;
        let (process, before) = (self.inner.process(), self.descriptors);
        eventually(|| {
            let now = descriptors(process)?;
            ensure!(now <= before, "{now} descriptors are open, {before} were");
            Ok(())
        })
    }
}
