//! The rules, in one table: what each is called and says. What they find stands beside, by
//! subject.

use super::{Severity, names, schemas, words};
use crate::model::ToolSpec;

/// One rule.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Its name, which stays.
    pub id: &'static str,
    /// How grave it is to break it.
    pub severity: Severity,
    /// What is so, of a tool that breaks it.
    pub what: &'static str,
    /// What a client makes of it.
    pub effect: &'static str,
    /// What the author can do.
    pub advice: &'static str,
    /// Where a tool breaks it, given the name by which agents call it.
    pub(super) find: fn(&str, &ToolSpec) -> Vec<String>,
}

/// Two rules are the same if they are called so.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

const fn warning(
    id: &'static str,
    [what, effect, advice]: [&'static str; 3],
    find: fn(&str, &ToolSpec) -> Vec<String>,
) -> Rule {
    Rule {
        id,
        severity: Severity::Warning,
        what,
        effect,
        advice,
        find,
    }
}

const fn note(
    id: &'static str,
    texts: [&'static str; 3],
    find: fn(&str, &ToolSpec) -> Vec<String>,
) -> Rule {
    Rule {
        severity: Severity::Note,
        ..warning(id, texts, find)
    }
}

/// Two tools whose names differ only by case, or by `-` and `_`. Found by
/// [`similar_names`](super::similar_names), because it takes two.
pub(super) static NAME_SIMILAR: Rule = warning(
    "name-similar",
    [
        "another tool has almost the same name",
        "models take one for the other, and clients that know no case or no `-` have two of one name",
        "give one of them another name",
    ],
    |_, _| Vec::new(),
);

/// All rules about one tool.
pub static RULES: &[Rule] = &[
    warning(
        "name-first",
        [
            "its name begins with no letter",
            "some clients drop the tool, and one that begins with `-` is an option to the command line",
            "name the entry or the file so that it begins with a letter",
        ],
        names::first,
    ),
    warning(
        "name-long",
        [
            "its name has more than 40 characters",
            "clients put a name of the server in front, and cut or drop what has more than 64 then",
            "give the entry, or the tool in its module, a shorter name",
        ],
        names::long,
    ),
    note(
        "name-dash",
        [
            "its name has a `-`",
            "some clients write `_` instead",
            "prefer `_`",
        ],
        names::dash,
    ),
    warning(
        "description-missing",
        [
            "it has no description",
            "a model does not know when to call it, and some clients drop it",
            "say in a sentence what it does",
        ],
        words::missing,
    ),
    warning(
        "description-long",
        [
            "its description has more than 1,024 characters",
            "clients cut it or refuse the tool",
            "say it shorter; what belongs to one argument belongs into that one's description",
        ],
        words::long,
    ),
    warning(
        "description-control",
        [
            "its description has control characters",
            "terminals and models can be misled by what people do not see",
            "write plain text, with line ends and tabs at most",
        ],
        words::control,
    ),
    note(
        "description-first-sentence",
        [
            "the first sentence of its description has more than 200 characters",
            "lists of tools show the first sentence",
            "begin with one short sentence that says it all",
        ],
        words::first_sentence,
    ),
    warning(
        "root-combinator",
        [
            "its input schema has a combinator at its root",
            "APIs of models refuse the request, or the client drops the tool",
            "put it into a property, or describe the rule in words; the `openai` and `anthropic` lists leave it out and say so",
        ],
        schemas::root_combinator,
    ),
    warning(
        "root-ref",
        [
            "its input schema is a reference",
            "clients that follow none see no arguments",
            "write `properties` at the root",
        ],
        schemas::root_reference,
    ),
    note(
        "properties-missing",
        [
            "its input schema has no `properties`",
            "some clients insist on them; the host adds empty ones to its list",
            "write `\"properties\": {}`, or the arguments that it takes",
        ],
        schemas::properties_missing,
    ),
    warning(
        "schema-ref",
        [
            "its input schema has references",
            "some models' APIs follow none, and the arguments behind them have no type there",
            "write the schema in place; the `openai` and `anthropic` lists do",
        ],
        schemas::reference,
    ),
    warning(
        "schema-recursive",
        [
            "its input schema refers to itself",
            "some models' APIs refuse the tool, and nobody can write the schema in place",
            "bound the depth, or take the nested part as a text",
        ],
        schemas::recursive,
    ),
    warning(
        "schema-type-array",
        [
            "its input schema has a list of types",
            "some models' APIs know one type for one value",
            "use one type, or `anyOf`",
        ],
        schemas::type_list,
    ),
    note(
        "schema-nullable",
        [
            "an argument may be `null`",
            "a few models' APIs know one type for one value, and no `null`",
            "leaving it out of `required` is enough, unless `null` means something else than nothing",
        ],
        schemas::nullable,
    ),
    warning(
        "schema-boolean",
        [
            "its input schema has `true` or `false` in the place of a schema",
            "some models' APIs refuse it",
            "write `{}`, or say which type it has",
        ],
        schemas::boolean,
    ),
    warning(
        "schema-dialect",
        [
            "its input schema is of another dialect than draft 2020-12",
            "APIs of models read it as 2020-12, where some keywords mean something else",
            "write it for draft 2020-12 and leave `$schema` out",
        ],
        schemas::dialect,
    ),
    warning(
        "property-name",
        [
            "an argument's name has other characters than letters, digits, `_`, `.` and `-`, or more than 64",
            "APIs of models refuse the request",
            "give it a plain name",
        ],
        schemas::property_name,
    ),
    warning(
        "required-unknown",
        [
            "it requires an argument that it does not allow",
            "no call can fit its schema",
            "add the property, or take the name out of `required`",
        ],
        schemas::required_unknown,
    ),
    note(
        "property-description",
        [
            "an argument has no description",
            "a model guesses what it means",
            "describe it in a few words",
        ],
        schemas::property_undescribed,
    ),
    warning(
        "output-not-object",
        [
            "its output schema is of no object",
            "one client refuses the whole list for it; the host leaves the schema out",
            "answer with an object, for instance `{ \"result\": … }`",
        ],
        schemas::output_not_object,
    ),
    warning(
        "hints-contradict",
        [
            "it claims to be read-only and to be destructive",
            "clients believe one of the two; the host says that it is not read-only",
            "take back one of the hints",
        ],
        words::contradiction,
    ),
    note(
        "hints-writes",
        [
            "it claims to be read-only and asks for a folder to write into",
            "where that is granted, the host says that it is not read-only",
            "take the hint back, or ask for the folder for reading only",
        ],
        words::writes,
    ),
];
