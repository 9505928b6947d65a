//! What a command writes, and how much of it is kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use prx_host::model::Event;

use super::play;
use crate::fixture::{Behaviour, Fixture, Setup, Stage};

pub async fn output_that_is_not_text_arrives<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let every: Vec<u8> = (0..=255).collect();
    let behaviour = Behaviour::Print(&every, b"\xff\xfe\0\r\n");
    let output = play(fixture, &stage, behaviour).await?;
    assert_eq!(output.stdout.bytes, every);
    assert_eq!(output.stderr.bytes, b"\xff\xfe\0\r\n");
    assert_eq!((output.stdout.dropped, output.stderr.dropped), (0, 0));
    Ok(())
}

pub async fn no_output_is_no_output<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let output = play(fixture, &stage, Behaviour::Print(b"", b"")).await?;
    assert_eq!(
        (output.stdout.bytes.len(), output.stderr.bytes.len()),
        (0, 0)
    );
    assert!(output.is_success());
    Ok(())
}

pub async fn both_streams_are_kept_up_to_their_limit<F: Fixture>(fixture: &F) -> Result<()> {
    const WRITTEN: u64 = 5_000_000;
    let runtime = "max_output_bytes = 70001";
    let setup = Setup {
        runtime,
        ..Setup::default()
    };
    let stage = Stage::new(fixture, &setup).await?;
    let output = play(fixture, &stage, Behaviour::Flood(WRITTEN)).await?;
    for stream in [&output.stdout, &output.stderr] {
        assert_eq!(stream.bytes.len(), 70_001);
        assert_eq!(stream.dropped, WRITTEN - 70_001);
    }
    assert!(output.is_success());
    Ok(())
}

pub async fn a_call_has_its_own_limit_of_output<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&Behaviour::Print(b"abcdef", b"ghi"))?;
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.max_output = Some(3);
    let output = stage.adapter.run(execution).await?;
    assert_eq!(
        (&output.stdout.bytes[..], output.stdout.dropped),
        (&b"abc"[..], 3)
    );
    assert_eq!(
        (&output.stderr.bytes[..], output.stderr.dropped),
        (&b"ghi"[..], 0)
    );
    Ok(())
}

pub async fn output_is_heard_as_it_comes<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&Behaviour::Print(b"abcdef", b"ghi"))?;
    let heard = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let sink = Arc::clone(&heard);
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.max_output = Some(5);
    execution.events = Some(Arc::new(move |event| match event {
        Event::Stdout(bytes) => sink.lock().unwrap().0.extend_from_slice(bytes),
        Event::Stderr(bytes) => sink.lock().unwrap().1.extend_from_slice(bytes),
        _ => {}
    }));
    stage.adapter.run(execution).await?;
    let heard = heard.lock().unwrap();
    assert_eq!((&heard.0[..], &heard.1[..]), (&b"abcde"[..], &b"ghi"[..]));
    Ok(())
}
