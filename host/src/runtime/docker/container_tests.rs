//! What an engine is asked for, field by field.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use bollard::models::{ContainerCreateBody, Mount, MountType};

use super::container::Plan;
use super::engine::Engine;
use super::settings::Settings;
use super::workspace::{Given, Place};
use crate::config::{Config, Environment};
use crate::runtime::{Execution, Program, Result};

const CONFIG: &str = r#"
[runtime]
env_whitelist = ["LANG", "HOME", "EDITOR"]
[runtime.docker]
memory_limit = "64m"
cpu_limit = "8"
pids_limit = 7
"#;

fn settings(text: &str) -> Settings {
    let environment = Environment::new("/srv")
        .with("HOME", "/home/ada")
        .with("LANG", "C")
        .with("EDITOR", "ed");
    let config = Config::from_toml(text, Path::new("/srv/config.toml"), &environment)
        .expect("a good configuration")
        .config;
    Settings::of_runtime(&config, &environment)
}

fn engine() -> Engine {
    Engine {
        limits_memory: true,
        limits_processes: true,
        limits_cpu: true,
        cpu_millis: Some(2000),
        ..Engine::default()
    }
}

fn body_on(
    engine: &Engine,
    execution: &Execution<'_>,
    hosts: Option<&str>,
) -> Result<ContainerCreateBody> {
    let place = Place {
        mounts: vec![
            Given {
                source: "/srv".into(),
                target: "/workspace".into(),
                read_only: false,
            },
            Given {
                source: "/srv/config.toml".into(),
                target: "/workspace/config.toml".into(),
                read_only: true,
            },
        ],
        working_dir: Some("/workspace/a".into()),
        user: "1000:100".into(),
    };
    Plan {
        settings: &settings(CONFIG),
        engine,
        place: &place,
        execution,
        image: "box:1",
        image_env: &["EDITOR=vi".into(), "PATH=/bin".into()],
        has_healthcheck: false,
        hosts,
        init: true,
    }
    .body()
}

fn body(execution: &Execution<'_>) -> ContainerCreateBody {
    body_on(&engine(), execution, None).expect("a body")
}

fn execution<'a>(program: Program<'a>, env: &'a HashMap<String, String>) -> Execution<'a> {
    Execution::new(program, env, Duration::from_secs(5))
}

#[test]
fn a_container_is_as_weak_as_the_documents_say() {
    let none = HashMap::new();
    let body = body(&execution(Program::Shell("true"), &none));
    assert_eq!(body.user.as_deref(), Some("1000:100"));
    assert_eq!(body.working_dir.as_deref(), Some("/workspace/a"));
    assert_eq!(body.stop_timeout, Some(0), "it is ended at once");
    let host = body.host_config.expect("limits");
    assert_eq!(host.memory, Some(64 << 20));
    assert_eq!(host.memory_swap, Some(64 << 20));
    assert_eq!(host.nano_cpus, Some(2_000_000_000), "as many as there are");
    assert_eq!(host.pids_limit, Some(7));
    assert_eq!(host.network_mode.as_deref(), Some("none"));
    assert_eq!(host.readonly_rootfs, Some(true));
    assert_eq!(host.privileged, Some(false));
    assert_eq!(host.cap_drop, Some(vec!["ALL".to_owned()]));
    assert_eq!(host.cap_add, None);
    assert_eq!(
        host.security_opt,
        Some(vec!["no-new-privileges".to_owned()])
    );
    assert_eq!(host.binds, None, "a bind makes folders that are missing");
    let mounts = host.mounts.expect("mounts");
    assert_eq!(mounts.len(), 2);
    assert_eq!(mounts[0].source.as_deref(), Some("/srv"));
    assert_eq!(mounts[0].target.as_deref(), Some("/workspace"));
    assert_eq!(mounts[0].read_only, Some(false));
    assert_eq!(mounts[1].source.as_deref(), Some("/srv/config.toml"));
    assert_eq!(mounts[1].target.as_deref(), Some("/workspace/config.toml"));
    assert_eq!(mounts[1].read_only, Some(true));
    let temporary = &host.tmpfs.expect("a place for temporary files")["/tmp"];
    assert!(
        temporary.contains(&format!("size={}", 32 << 20)),
        "{temporary}"
    );
}

#[test]
fn without_a_network_only_a_file_of_names_is_added() {
    let none = HashMap::new();
    let call = execution(Program::Shell("true"), &none);
    let with = body_on(&engine(), &call, Some("/cache/hosts")).expect("a body");
    let mut without = body(&call);
    assert_eq!(without.network_disabled, None);
    without.network_disabled = Some(true);
    let host = without.host_config.as_mut().expect("limits");
    host.mounts.get_or_insert_default().push(Mount {
        typ: Some(MountType::BIND),
        source: Some("/cache/hosts".into()),
        target: Some("/etc/hosts".into()),
        read_only: Some(true),
        ..Mount::default()
    });
    assert_eq!(with, without);
}

#[test]
fn a_line_goes_to_the_shell_and_arguments_stay_whole() {
    let none = HashMap::new();
    let line = body(&execution(Program::Shell("echo 'a  b'; $X"), &none));
    assert_eq!(line.entrypoint, Some(vec!["sh".to_owned()]));
    assert_eq!(
        line.cmd,
        Some(vec!["-c".to_owned(), "echo 'a  b'; $X".to_owned()])
    );
    let args = ["a b\n\"'$(x)".to_owned(), String::new(), "-v".to_owned()];
    let direct = Program::Direct {
        program: "echo",
        args: &args,
    };
    let direct = body(&execution(direct, &none));
    assert_eq!(direct.entrypoint, Some(vec!["echo".to_owned()]));
    assert_eq!(direct.cmd, Some(args.to_vec()));
}

#[test]
fn variables_of_the_call_win_over_the_images_and_those_over_this_machines() {
    let none = HashMap::new();
    let plain = body(&execution(Program::Shell("env"), &none));
    assert_eq!(
        plain.env,
        Some(vec!["HOME=/tmp".to_owned(), "LANG=C".to_owned()]),
        "the image has an `EDITOR` of its own"
    );
    let own = HashMap::from([
        ("HOME".into(), "/workspace".into()),
        ("PATH".into(), "/x".into()),
    ]);
    let own = body(&execution(Program::Shell("env"), &own));
    let expected = ["HOME=/workspace", "LANG=C", "PATH=/x"].map(str::to_owned);
    assert_eq!(own.env, Some(expected.to_vec()));
}

#[test]
fn a_call_may_have_less_memory_and_standard_input() {
    let none = HashMap::new();
    let mut call = execution(Program::Shell("cat"), &none);
    assert_eq!(body(&call).open_stdin, Some(false));
    call.stdin = Some(b"x");
    call.max_memory = Some(8 << 20);
    let body = body(&call);
    assert_eq!(body.open_stdin, Some(true));
    assert_eq!(body.stdin_once, Some(true));
    assert_eq!(body.host_config.expect("limits").memory, Some(8 << 20));
}

#[test]
fn an_engine_is_not_asked_for_limits_that_it_does_not_enforce() {
    let none = HashMap::new();
    let call = execution(Program::Shell("true"), &none);
    let poor = Engine {
        limits_memory: false,
        limits_cpu: false,
        ..engine()
    };
    let body = body_on(&poor, &call, None).expect("a body");
    let host = body.host_config.expect("limits");
    assert_eq!(
        (host.memory, host.memory_swap, host.nano_cpus),
        (None, None, None)
    );
    assert_eq!(host.pids_limit, Some(7));
}

#[test]
fn what_no_program_can_be_given_is_refused_without_its_value() {
    let none = HashMap::new();
    let args = ["a".to_owned(), "b\0".to_owned()];
    let direct = Program::Direct {
        program: "x",
        args: &args,
    };
    let refused = |call: &Execution<'_>| {
        body_on(&engine(), call, None)
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(&execution(direct, &none)).starts_with("argument 2 "));
    assert!(refused(&execution(Program::Shell("a\0"), &none)).starts_with("the command "));
    for (name, value) in [("A=B", "x"), ("", "x"), ("SECRET", "hunter2\0")] {
        let env = HashMap::from([(name.to_owned(), value.to_owned())]);
        let error = refused(&execution(Program::Shell("x"), &env));
        assert!(
            error.starts_with(&format!("the variable `{name}`")),
            "{error}"
        );
        assert!(!error.contains("hunter2"), "{error}");
    }
}
