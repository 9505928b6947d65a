//! The example of an agent, with a model that is a script: it wants a tool, then says what
//! the tool answered.

use std::process::Command;

use anyhow::{Result, ensure};
use prx_tests::{Stage, program};

/// Wants two calls at once, one of them wrong; repeats what it hears of them.
const MODEL: &str = r#"
request=$(cat)
case "$request" in
*'"role":"tool"'*)
    case "$request" in
    *'\"sum\":15'*'do not fit'*) said='right' ;;
    *) said='wrong' ;;
    esac
    printf '{"choices":[{"message":{"role":"assistant","content":"%s"}}]}' "$said" ;;
*'"name":"trivial"'*)
    call() { printf '{"id":"%s","type":"function","function":{"name":"trivial","arguments":"%s"}}' "$1" "$2"; }
    printf '{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[%s,%s]}}]}' \
        "$(call one '{\"text\":\"to be\",\"numbers\":[7,8]}')" "$(call two '{\"numbers\":[1]}')" ;;
*) printf '{"error":"no tools"}' ;;
esac
"#;

#[test]
fn the_example_of_an_agent_calls_what_its_model_wants_and_tells_it_how_that_ended() -> Result<()> {
    let stage = Stage::new()?.guests(&["trivial"])?;
    let model = stage.root().join("model.sh");
    std::fs::write(&model, MODEL)?;
    let agent = program()?.with_file_name("examples").join("agent");
    ensure!(
        agent.exists(),
        "{}: `cargo build --examples` makes it",
        agent.display()
    );
    let output = Command::new(agent)
        .env("HOME", stage.root())
        .arg(stage.write_config()?)
        .args(["How much is 7 and 8?", "sh"])
        .arg(model)
        .output()?;
    let heard = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{heard}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "right\n");
    // Both calls, and how each ended.
    ensure!(
        heard.contains("Ok") && heard.contains("InvalidArguments"),
        "{heard}"
    );
    Ok(())
}
