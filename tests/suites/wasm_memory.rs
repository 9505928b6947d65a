//! Memory, tables, instances and stacks: what a guest takes is bounded, and who hears of
//! a refusal hears its reason.

use anyhow::{Result, bail, ensure};
use prx_host::model::{LimitKind, Outcome, TrapKind};
use prx_tests::calls::{assert_healthy, broken, call, structured, text};
use prx_tests::{Stage, fixtures};
use serde_json::{Value, json};

const MEGABYTE: u64 = 1 << 20;

/// An entry with 16 MB for the module of that name.
fn small(name: &str) -> String {
    format!("[tools.custom.{name}]\nmax_memory_mb = 16\n")
}

async fn answers(host: &prx_host::Host, tool: &str) -> Result<()> {
    let answer = structured(host, tool, json!({})).await?;
    ensure!(answer == json!({ "answered": true }), "{tool}: {answer}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_that_breaks_for_want_of_memory_is_told_apart_from_a_trap() -> Result<()> {
    let stage = Stage::new()?.guests(&["memory"])?.entries(&small("memory"));
    let host = stage.open().await?;
    let place = stage.place_of("max_memory_mb = 16")?;
    for (tool, arguments) in [
        ("memory_grow", json!({})),
        ("memory_huge", json!({ "megabytes": 17 })),
        ("memory_huge", json!({ "megabytes": 1000 })),
    ] {
        let expected = Outcome::OutOfMemory {
            limit: 16 * MEGABYTE,
            set_by: format!("tools.custom.memory.max_memory_mb ({place})"),
        };
        assert_eq!(call(&host, tool, arguments).await, expected);
        assert_healthy(&host).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_that_bears_a_refusal_goes_on() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["memory"])?
        .wasm("max_memory_mb = 16");
    let host = stage.open().await?;
    let said = text(&host, "memory_grow_gently", json!({})).await?;
    let held = said
        .strip_prefix("held ")
        .and_then(|rest| rest.strip_suffix(" MB, then went on without"))
        .and_then(|number| number.parse::<u64>().ok());
    assert!(held.is_some_and(|held| (8..16).contains(&held)), "{said}");
    let within = text(&host, "memory_hold", json!({ "megabytes": 8 })).await?;
    assert_eq!(within, "held 8 MB");
    // Memory that one call held is there again for the next.
    for _ in 0..20 {
        text(&host, "memory_hold", json!({ "megabytes": 8 })).await?;
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_that_is_there_from_the_beginning_counts_and_memories_are_summed() -> Result<()> {
    // Pages are 64 KiB: 200 of them are 12.5 MB, 320 are 20 MB.
    let stage = Stage::new()?
        .module("one_large", &fixtures::initial_memory(320)?)?
        .module("one_fitting", &fixtures::initial_memory(200)?)?
        .module("four", &fixtures::several_memories(3, 96)?)?
        .module("growing", &fixtures::growing_memories(3)?)?
        .module("too_large_for_all", &fixtures::initial_memory(2100)?)?
        .module("too_many_for_all", &fixtures::several_memories(3, 700)?)?
        .entries(
            &["one_large", "one_fitting", "four", "growing"]
                .map(small)
                .concat(),
        );
    let host = stage.open().await?;
    for tool in ["one_large", "four", "growing"] {
        match call(&host, tool, json!({})).await {
            Outcome::OutOfMemory { limit, set_by } => {
                assert_eq!(limit, 16 * MEGABYTE);
                ensure!(set_by.contains(&format!("tools.custom.{tool}.max_memory_mb")));
            }
            other => bail!("{tool}: {other:?}"),
        }
        assert_healthy(&host).await?;
    }
    answers(&host, "one_fitting").await?;
    for module in ["too_large_for_all", "too_many_for_all"] {
        let reason = broken(&host, module)?;
        ensure!(reason.contains("more memory than 128 MiB"), "{reason}");
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_bounded_although_they_are_no_memory() -> Result<()> {
    let stage = Stage::new()?
        .module("huge", &fixtures::initial_table(50_000_000)?)?
        .module("modest", &fixtures::initial_table(10_000)?)?
        .module("growing", &fixtures::growing_table()?)?;
    let host = stage.open().await?;
    let reason = broken(&host, "huge")?;
    ensure!(reason.contains("200000 table elements"), "{reason}");
    answers(&host, "modest").await?;
    let expected = Outcome::LimitReached {
        kind: LimitKind::TableElements,
        limit: 200_000,
    };
    assert_eq!(call(&host, "growing", json!({})).await, expected);
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dozens_of_instances_serve_and_thousands_do_not() -> Result<()> {
    let stage = Stage::new()?
        .module("dozens", &fixtures::many_instances(48)?)?
        .module("thousands", &fixtures::many_instances(3000)?)?;
    let host = stage.open().await?;
    answers(&host, "dozens").await?;
    let reason = broken(&host, "thousands")?;
    ensure!(reason.contains("instances"), "{reason}");
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_recursion_is_a_trap_and_deep_recursion_is_none() -> Result<()> {
    let stage = Stage::new()?.guests(&["recursion"])?;
    let host = stage.open().await?;
    for (tool, kinds) in [
        ("recursion_calls", &[TrapKind::StackOverflow][..]),
        // The guest's own stack ends at the beginning of its memory.
        (
            "recursion_frames",
            &[TrapKind::Fault, TrapKind::StackOverflow],
        ),
    ] {
        match call(&host, tool, json!({})).await {
            Outcome::Trapped(trap) if kinds.contains(&trap.kind) => {
                ensure!(trap.backtrace.len() <= 16, "{trap:?}");
                ensure!(!trap.message.contains('\n'), "{trap:?}");
            }
            other => bail!("{tool}: {other:?}"),
        }
        assert_healthy(&host).await?;
    }
    let deep: Value = json!({ "depth": 2000 });
    let said = text(&host, "recursion_some", deep).await?;
    assert_eq!(said, "came back from a depth of 2000");
    Ok(())
}
