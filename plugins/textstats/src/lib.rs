//! The skill `textstats`: one pure tool. It needs no grant, and everything that it knows
//! is in its arguments and one optional setting.

pub mod count;

use std::num::NonZeroU32;

use prx_skill::prelude::*;

use crate::count::{Options, TextStats};

/// The pace of an adult who reads silently, where the operator sets none.
const WORDS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(200).expect("not zero");

/// Count the words, sentences, lines and characters of a text, estimate its reading time and
/// list its most frequent words.
///
/// Counts follow Unicode: an emoji or an accented letter is one character, and languages that
/// write no spaces have words too.
#[tool(
    title = "Text statistics",
    read_only,
    destructive = false,
    idempotent,
    open_world = false
)]
fn textstats(
    /// The text to measure.
    text: &str,
    /// How many of the most frequent words to list.
    #[default(10)]
    #[schemars(range(max = 1000))]
    top: usize,
    /// List only words of at least this many characters.
    #[default(1)]
    min_length: usize,
    /// Words not to list, for instance `["the", "a"]`; upper and lower case are the same.
    #[default]
    ignore: Vec<String>,
) -> Result<TextStats, ToolError> {
    let words_per_minute: NonZeroU32 = config::get_or("words_per_minute", WORDS_PER_MINUTE)?;
    let words_per_minute = words_per_minute.get();
    Ok(count::measure(
        text,
        &Options {
            top,
            min_length,
            ignore,
            words_per_minute,
        },
    ))
}

prx_skill::skill!(textstats);

#[cfg(test)]
mod tests {
    use prx_skill::serde_json::{Value, from_str, json};
    use prx_skill::testing::{self, Host};

    use super::*;

    fn call(arguments: Value) -> Value {
        let output = testing::call(&SKILL, "textstats", arguments).unwrap();
        let answer = from_str(&output.structured.unwrap()).unwrap();
        let tools = SKILL.describe();
        let schema = tools[0].output_schema.as_ref().unwrap().as_value();
        jsonschema::validate(schema, &answer).unwrap();
        answer
    }

    #[test]
    fn the_text_alone_is_enough() {
        let _host = Host::new();
        let stats = call(json!({"text": "To be, or not to be."}));
        assert_eq!(stats["words"], 6);
        assert_eq!(stats["sentences"], 1);
        assert_eq!(
            stats["frequent_words"][0],
            json!({"word": "be", "count": 2})
        );
        assert_eq!(stats["reading_time_seconds"], 2);
    }

    #[test]
    fn the_operator_sets_the_reading_speed() {
        let host = Host::new().config("words_per_minute", 6);
        assert_eq!(
            call(json!({"text": "one two three"}))["reading_time_seconds"],
            30
        );
        let _host = host.config("words_per_minute", 0);
        let error = testing::call(&SKILL, "textstats", json!({"text": ""})).unwrap_err();
        assert!(error.message().contains("words_per_minute"), "{error}");
    }

    #[test]
    fn options_are_taken_by_name() {
        let _host = Host::new();
        let stats =
            call(json!({"text": "a bb bb ccc", "min_length": 2, "top": 1, "ignore": ["BB"]}));
        assert_eq!(
            stats["frequent_words"],
            json!([{"word": "ccc", "count": 1}])
        );
    }

    #[test]
    fn the_tool_describes_itself_fully() {
        let tools = SKILL.describe();
        let [tool] = &tools[..] else {
            panic!("{tools:?}")
        };
        assert!(tool.description.starts_with("Count the words"));
        assert_eq!(tool.hints.read_only, Some(true));
        assert!(tool.requests.is_empty());
        let schema = tool.input_schema.as_value();
        assert_eq!(schema["required"], json!(["text"]));
        assert_eq!(schema["properties"]["top"]["default"], 10);
        for (name, parameter) in schema["properties"].as_object().unwrap() {
            assert!(parameter["description"].is_string(), "{name}");
        }
        let answer = tool.output_schema.as_ref().unwrap().as_value();
        assert_eq!(answer["properties"]["words"]["type"], "integer");
    }
}
