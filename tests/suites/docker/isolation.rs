//! What a command in a container can not do, and what it never sees.

use std::collections::HashMap;
use std::io::Read as _;
use std::net::TcpListener;

use anyhow::{Context as _, Result, ensure};
use prx_host::{Execution, Program, RuntimeAdapter as _, RuntimeError};
use prx_tests::containers::{Kind, LONG, SECRET, Yard, printed};

#[tokio::test]
async fn the_root_of_a_container_is_read_only_and_its_temporary_folder_is_not() -> Result<()> {
    let yard = Yard::new()?;
    let output = yard
        .shell("touch /made /bin/made /etc/made; echo x > /tmp/made && cat /tmp/made; df -k /tmp | tail -n 1")
        .await?;
    let said = String::from_utf8_lossy(&output.stderr.bytes).into_owned();
    assert_eq!(said.matches("Read-only file system").count(), 3, "{said}");
    let text = printed(&output)?;
    let size = text
        .lines()
        .nth(1)
        .and_then(|line| line.split_whitespace().nth(1));
    assert_eq!(size, Some("131072"), "half of the memory: {text}");
    Ok(())
}

#[tokio::test]
async fn a_command_has_no_capability_and_can_gain_none() -> Result<()> {
    let yard = Yard::new()?;
    let output = yard
        .shell("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status")
        .await?;
    let text = printed(&output)?;
    for line in text.lines().filter(|line| line.starts_with("Cap")) {
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
    assert!(text.contains("NoNewPrivs:\t1"), "{text}");
    assert!(text.contains("Seccomp:\t2"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_command_sees_no_process_but_its_own() -> Result<()> {
    let yard = Yard::new()?;
    let output = yard.shell("ls -d /proc/[0-9]* | wc -l").await?;
    let count: usize = printed(&output)?.trim().parse()?;
    assert!(count <= 5, "init, the shell and what it started: {count}");
    Ok(())
}

#[tokio::test]
async fn without_a_network_there_is_loopback_and_nothing_else() -> Result<()> {
    let yard = Yard::new()?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let port = server.local_addr()?.port();
    let line = format!("ls /sys/class/net; echo x | nc -w 2 127.0.0.1 {port} || echo refused");
    assert_eq!(printed(&yard.shell(&line).await?)?, "lo\nrefused\n");
    Ok(())
}

#[tokio::test]
async fn without_a_network_localhost_has_a_name_and_nothing_else_has_one() -> Result<()> {
    let yard = Yard::new()?;
    let line = "nc -w 2 localhost 9 </dev/null 2>&1; nc -w 2 example.com 9 </dev/null 2>&1; \
                (echo '10.0.0.1 example.com' >> /etc/hosts) 2>&1; cat /etc/resolv.conf 2>/dev/null; true";
    let output = yard.shell(line).await?;
    let text = printed(&output)?;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].contains("(127.0.0.1): Connection refused"),
        "{text}"
    );
    assert!(lines[1].contains("bad address 'example.com'"), "{text}");
    assert!(lines[2].contains("Read-only file system"), "{text}");
    Ok(())
}

#[tokio::test]
async fn an_engine_that_does_not_find_the_names_gives_its_own() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let names = yard.beside(".cache/openprx/docker/hosts");
    if Kind::given()?.is_podman() {
        assert!(!names.exists(), "it has no use for them");
    } else {
        std::fs::remove_file(names)?;
    }
    let none = HashMap::new();
    for _ in 0..2 {
        let line = "ls /sys/class/net; grep -c '^127.0.0.1.*localhost$' /etc/hosts";
        let execution = Execution::new(Program::Shell(line), &none, LONG);
        assert_eq!(printed(&adapter.run(execution).await?)?, "lo\n1\n");
    }
    drop(adapter);
    assert_eq!(yard.containers().await?.len(), 0);
    Ok(())
}

#[tokio::test]
async fn a_bridged_network_has_an_interface_of_its_own() -> Result<()> {
    let bridged = Yard::with("network = \"bridge\"\n")?;
    let interfaces = bridged.shell("ls /sys/class/net").await?;
    assert_eq!(printed(&interfaces)?, "eth0\nlo\n");
    Ok(())
}

#[tokio::test]
async fn the_network_of_the_host_is_the_one_of_this_machine() -> Result<()> {
    let open = Yard::with("network = \"host\"\n")?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let port = server.local_addr()?.port();
    let heard = std::thread::spawn(move || -> Result<String> {
        let mut heard = String::new();
        server.accept()?.0.read_to_string(&mut heard)?;
        Ok(heard)
    });
    let line = format!("echo heard | nc -w 2 127.0.0.1 {port}");
    let output = open.shell(&line).await?;
    if Kind::given()? == Kind::RootlessDocker {
        assert!(
            !output.is_success(),
            "it has a network of its own: {output:?}"
        );
        return Ok(());
    }
    assert!(output.is_success(), "{output:?}");
    assert_eq!(heard.join().expect("it does not panic")?, "heard\n");
    Ok(())
}

#[tokio::test]
async fn a_command_sees_the_whitelist_the_images_variables_and_its_own() -> Result<()> {
    let mut yard = Yard::new()?;
    yard.runtime = "env_whitelist = [\"PATH\", \"HOME\", \"LANG\", \"EDITOR\", \"UNSET\"]\n".into();
    let adapter = yard.adapter().await?;
    let own = HashMap::from([("OWN".to_owned(), "a b\nc=\"$HOME\"".to_owned())]);
    let line = "env | grep -v '^HOSTNAME=' | sort; echo \"[$OWN]\"";
    let output = adapter
        .run(Execution::new(Program::Shell(line), &own, LONG))
        .await?;
    let text = printed(&output)?;
    let has = |line: &str| text.lines().any(|it| it == line);
    assert!(has("HOME=/tmp"), "{text}");
    assert!(has("LANG=C.of-the-host"), "{text}");
    assert!(has("EDITOR=vi-of-the-image"), "{text}");
    assert!(!text.contains("/nowhere/of/the/host"), "{text}");
    assert!(!text.contains("UNSET"), "{text}");
    assert!(text.ends_with("[a b\nc=\"$HOME\"]\n"), "{text}");
    Ok(())
}

#[tokio::test]
async fn no_secret_of_the_host_is_in_a_container_or_an_error() -> Result<()> {
    let yard = Yard::new()?;
    let line = "env; cat /proc/*/environ; cat /proc/*/cmdline; true";
    let output = yard.shell(line).await?;
    let seen = String::from_utf8_lossy(&output.stdout.bytes).into_owned();
    assert!(seen.contains("HOME=/tmp"), "{seen}");
    assert!(!seen.contains(SECRET), "{seen}");

    let adapter = yard.adapter().await?;
    let secret = HashMap::from([("TOKEN".to_owned(), SECRET.to_owned())]);
    let args = [SECRET.to_owned()];
    let program = Program::Direct {
        program: "no-such-program",
        args: &args,
    };
    let failed = adapter.run(Execution::new(program, &secret, LONG)).await;
    let error = failed.expect_err("there is no such program");
    ensure!(
        matches!(error, RuntimeError::CommandNotFound { .. }),
        "{error:?}"
    );
    assert!(!format!("{error:?} {error}").contains(SECRET));
    Ok(())
}

#[tokio::test]
async fn values_of_variables_are_in_no_label_and_no_argument() -> Result<()> {
    let yard = Yard::with("auto_remove = false\n")?;
    let adapter = yard.adapter().await?;
    let secret = HashMap::from([("TOKEN".to_owned(), SECRET.to_owned())]);
    adapter
        .run(Execution::new(Program::Shell("true"), &secret, LONG))
        .await?;
    let containers = yard.containers().await?;
    let kept = containers.first().context("it was kept")?;
    assert!(!format!("{:?} {:?}", kept.labels, kept.command).contains(SECRET));
    let id = kept.id.clone().context("an id")?;
    prx_tests::containers::client(&yard.socket)?
        .remove_container(&id, None)
        .await?;
    Ok(())
}
