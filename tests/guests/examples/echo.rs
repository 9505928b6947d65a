//! Well behaved: gives its arguments back, as structured answer and as text.

use prx_guests::tools::{Content, Output};
use prx_guests::{Tool, guest};

guest![Tool::new(
    "echo",
    "Gives its arguments back.",
    |arguments| {
        let json = arguments.json().to_owned();
        Ok(Output {
            contents: vec![Content::Text(json.clone())],
            structured: Some(json),
        })
    }
)];
