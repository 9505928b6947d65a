//! Texts that nobody would write: no panic, and every fault has a place.

use proptest::prelude::*;

use crate::load;

/// Pieces of configuration files, good and bad, in any order.
fn toml_like() -> impl Strategy<Value = String> {
    let pieces: Vec<&'static str> = vec![
        "[runtime]\n",
        "[runtime.wasm]\n",
        "[runtime.wasm.capabilities]\n",
        "[tools.custom.a]\n",
        "[tools.custom.\"\u{e9} b\"]\n",
        "[[tools.custom]]\n",
        "[security.sandbox]\n",
        "[security.",
        "[tools.custom.a.config]\n",
        "[tools]\n",
        "[runtime.docker]\n",
        "[runtim]\r\n",
        "[",
        "]",
        "backend = ",
        "timeout_secs = ",
        "filesystem_read = ",
        "allowed_hosts = ",
        "network = ",
        "type = ",
        "command = ",
        "memory_limit = ",
        "cpu_limit = ",
        "x.y = ",
        "config = ",
        "env = ",
        "module_path = ",
        "max_memory_mb = ",
        "parameters = ",
        "image = ",
        "custom = ",
        "\"wasm\"",
        "\"auto\"\n",
        "\"\u{4f60}::/\u{597d}\"\n",
        "\"a::b\"",
        "\"/workspace/../x\"",
        "\"~\"",
        "\"$XDG_DATA_HOME\"",
        "1\n",
        "-1",
        "0.5\n",
        "nan\n",
        "9e999",
        "true\n",
        "false",
        "2024-01-01\n",
        "{ a = 1, \"\" = [] }\n",
        "{",
        "}",
        "[\"x\", 1]\n",
        "[]\n",
        "'''",
        "\"\"\"",
        "\"",
        "\\u0000",
        "# c\n",
        "\n",
        "\t",
        "\u{feff}",
        "\0",
        "=",
        ".",
        ",",
        " ",
    ];
    prop::collection::vec(
        prop_oneof![
            8 => prop::sample::select(pieces).prop_map(str::to_owned),
            1 => "\\PC{0,6}",
        ],
        0..40,
    )
    .prop_map(|pieces| pieces.concat())
}

fn check_faults(text: &str) -> Result<(), TestCaseError> {
    let faults = match load(text) {
        Ok(loaded) => {
            prop_assert!(!loaded.warnings.has_errors());
            prop_assert!(loaded.config.effective().len() > 30);
            loaded.warnings
        }
        Err(faults) => faults,
    };
    for fault in &faults {
        let place = fault.place.as_ref().unwrap();
        let line = text.split('\n').nth(place.line - 1);
        prop_assert!(line.is_some(), "line {} of {text:?}", place.line);
        let columns = line.unwrap_or_default().chars().count() + 1;
        prop_assert!(
            (1..=columns).contains(&place.column),
            "{place:?} of {text:?}"
        );
        prop_assert!(
            !fault.what.is_empty() && !fault.what.contains('\n'),
            "{}",
            fault.what
        );
    }
    let printed = faults.render(false).len() + faults.render(true).len();
    prop_assert!(printed >= 2 * faults.len() && faults.to_string().len() >= faults.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_answered_with_faults_that_have_a_place(text in toml_like()) {
        check_faults(&text)?;
    }

    #[test]
    fn a_documented_file_with_a_piece_cut_out_never_panics(
        (from, length) in (0_usize..3000, 0_usize..200),
    ) {
        let text = include_str!("documented/whole.toml");
        let start = text.floor_char_boundary(from);
        let end = text.floor_char_boundary(start + length);
        check_faults(&format!("{}{}", &text[..start], &text[end..]))?;
    }
}
