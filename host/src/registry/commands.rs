//! Entries of commands, and the built-in shell.

use std::collections::HashMap;
use std::sync::Arc;

use super::entry::{CommandTool, Entry, EntryLimits, Runner, Started};
use super::limits::own_or;
use super::made::{NotMade, Offer};
use super::provided;
use crate::command::{self, ArgumentGroup, CommandTemplate, Parameters, ProgramTemplate, Stdin};
use crate::config::{Backend, Config, Environment, SandboxBackend, Setting, ToolEntry};
use crate::model::{Grants, Hints, ToolSpec};
use crate::runtime::{Backends, RuntimeAdapter};

/// Makes the entry of a command on a backend for commands.
pub(super) fn entry(
    config: &Config,
    tool: &ToolEntry,
    backend: Backend,
    backends: &Backends,
    environment: &Environment,
    started: Started,
) -> Result<Offer, NotMade> {
    let Some(program) = &tool.command else {
        return Err("it has no `command`".to_owned().into());
    };
    let (parameters, template) = described(tool, &program.value);
    let provision = provided::provision(Some(tool), environment)?;
    let described = match &template.program {
        ProgramTemplate::Direct { program, .. } => program.as_str(),
        _ => "a line of shell",
    };
    let specs = vec![spec(&tool.name, described, &parameters)];
    let command = CommandTool {
        template,
        parameters,
        adapter: adapter(backend, backends, image_of(config, &tool.name, Some(tool)))?,
        env: provision.env.into_iter().collect(),
        working_dir: tool.working_dir.as_ref().map(|folder| folder.value.clone()),
        max_memory: tool.max_memory_bytes.as_ref().map(|limit| limit.value),
        #[cfg(feature = "wasm-runtime")]
        module: None,
    };
    let limits = EntryLimits {
        timeout: own_or(tool.timeout.as_ref(), &config.runtime.default_timeout),
        max_memory: own_or(tool.max_memory_bytes.as_ref(), memory(config, backend)),
        max_output: own_or(
            tool.max_output_bytes.as_ref(),
            &config.runtime.max_output_bytes,
        ),
    };
    let entry = Entry {
        name: tool.name.clone(),
        place: Some(tool.place.clone()),
        backend,
        grants: Grants::default(),
        limits,
        runner: Runner::Command(Box::new(command)),
        started,
        written: Some(Box::new(tool.clone())),
    };
    Ok((entry, specs))
}

/// Makes the entry of `[tools.shell]`. A shell runs whatever an agent writes, so it runs
/// in a container or in a sandbox that works, or not at all.
pub(super) async fn shell(
    config: &Config,
    name: &str,
    backend: Backend,
    backends: &Backends,
    started: Started,
) -> Result<Offer, NotMade> {
    if backend == Backend::Native && !backends.native_is_sandboxed().await? {
        return Err(NotMade {
            reason: "the shell runs in a sandbox only, and there is none".into(),
            help: Some(
                "install bubblewrap and write `security.sandbox.backend = \"auto\"`, or `tools.shell.type = \"docker\"`".into(),
            ),
        });
    }
    let (parameters, template) = command::any_line();
    let mut spec = spec(name, name, &parameters);
    spec.description = "Runs a line of shell in a sandbox, in the workspace. The answer is what it prints; an exit code other than 0 is an error.".into();
    spec.hints = Hints {
        read_only: Some(false),
        destructive: Some(true),
        idempotent: Some(false),
        open_world: Some(true),
    };
    let settings = &config.shell;
    let entry = Entry {
        name: name.to_owned(),
        place: settings.enabled.place.clone(),
        backend,
        grants: Grants::default(),
        limits: EntryLimits {
            timeout: own_or(settings.timeout.as_ref(), &config.runtime.default_timeout),
            max_memory: memory(config, backend).clone(),
            max_output: own_or(
                settings.max_output_bytes.as_ref(),
                &config.runtime.max_output_bytes,
            ),
        },
        runner: Runner::Command(Box::new(CommandTool {
            template,
            parameters,
            adapter: adapter(backend, backends, image_of(config, name, None))?,
            env: HashMap::new(),
            working_dir: None,
            max_memory: None,
            #[cfg(feature = "wasm-runtime")]
            module: None,
        })),
        started,
        written: None,
    };
    Ok((entry, vec![spec]))
}

fn adapter(
    backend: Backend,
    backends: &Backends,
    image: Option<&str>,
) -> Result<Arc<dyn RuntimeAdapter>, NotMade> {
    match backend {
        Backend::Docker => Ok(backends.docker(image)?),
        Backend::Native | Backend::Wasm => Ok(backends.native()),
    }
}

/// The image of a tool's own: the one that its entry names, or `runtime.docker.tool_images`.
fn image_of<'a>(config: &'a Config, name: &str, written: Option<&'a ToolEntry>) -> Option<&'a str> {
    let of_entry = written.and_then(|tool| tool.image.as_ref());
    let images = &config.runtime.docker.tool_images.value;
    let of_name = || images.get(name).map(String::as_str);
    of_entry.map(|image| image.value.as_str()).or_else(of_name)
}

impl Entry {
    /// The image of the containers in which its command runs, where it runs in some.
    pub(crate) fn image<'a>(&'a self, config: &'a Config) -> &'a str {
        let standard = &config.runtime.docker.image;
        if self.backend == Backend::Docker {
            let own = image_of(config, &self.name, self.written.as_deref());
            return own.unwrap_or(&standard.value);
        }
        let of_sandbox = config.sandbox.docker.image.as_ref();
        &of_sandbox.unwrap_or(standard).value
    }
}

/// The limit of memory that holds for all commands of a backend.
fn memory(config: &Config, backend: Backend) -> &Setting<u64> {
    let of_containers = &config.runtime.docker.memory_limit;
    let sandbox = &config.sandbox;
    match backend {
        Backend::Docker => of_containers,
        // Native commands whose sandbox is a container.
        _ if sandbox.backend.value == Some(SandboxBackend::Docker) => {
            let own = sandbox.docker.memory_limit.as_ref();
            own.unwrap_or(of_containers)
        }
        Backend::Native | Backend::Wasm => &config.resources.max_memory_bytes,
    }
}

/// Whether an entry says how a command is used.
pub(super) fn is_described(tool: &ToolEntry) -> bool {
    !tool.args.value.is_empty()
        || tool.parameters.is_some()
        || tool.stdin.place.is_some()
        || tool.output.place.is_some()
        || tool.success_exit_codes.place.is_some()
}

/// What an entry says of its command: without `args` it is a line for the shell, and
/// without `parameters` each place in the template is a required text.
pub(super) fn described(tool: &ToolEntry, program: &str) -> (Parameters, CommandTemplate) {
    let arguments = tool.args.value.clone();
    let is_line = arguments.is_empty() && tool.module.is_none();
    let program = if is_line {
        ProgramTemplate::Line(program.to_owned())
    } else {
        ProgramTemplate::Direct {
            program: program.to_owned(),
            arguments,
        }
    };
    let template = CommandTemplate {
        program,
        stdin: tool.stdin.value.clone(),
        output: tool.output.value,
        success_codes: tool.success_exit_codes.value.clone(),
    };
    let parameters = match &tool.parameters {
        Some(parameters) => parameters.value.clone(),
        None if template.stdin == Stdin::Json => Parameters::any(),
        None => Parameters::of_names(&template.names(), &flags(&tool.args.value)),
    };
    (parameters, template)
}

fn flags(groups: &[ArgumentGroup]) -> Vec<&str> {
    let pieces = groups.iter().flat_map(|group| &group.0);
    pieces.filter_map(command::Piece::flag).collect()
}

/// What agents read of the tool of a program, unless the operator describes it himself.
pub(super) fn spec(name: &str, program: &str, parameters: &Parameters) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: None,
        description: format!("Runs `{program}` and answers with what it prints."),
        input_schema: parameters.schema().clone(),
        output_schema: None,
        hints: Hints::default(),
        requests: Vec::new(),
    }
}
