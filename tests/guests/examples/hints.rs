//! Well behaved: claims hints and asks for permissions of every kind.

use prx_guests::tools::{Capability, Hints, Request};
use prx_guests::{Tool, guest, text};

fn request(capability: Capability, reason: &str, optional: bool) -> Request {
    Request {
        capability,
        reason: reason.to_owned(),
        optional,
    }
}

guest![
    Tool::new("harmless", "Claims to be as harmless as can be.", |_| text(
        "harmless"
    ))
    .titled("Harmless tool")
    .hinting(Hints {
        read_only: Some(true),
        destructive: Some(false),
        idempotent: Some(true),
        open_world: Some(false),
    }),
    Tool::new("harmful", "Claims to be as harmful as can be.", |_| text(
        "harmful"
    ))
    .hinting(Hints {
        read_only: Some(false),
        destructive: Some(true),
        idempotent: Some(false),
        open_world: Some(true),
    }),
    Tool::new("silent", "Claims nothing.", |_| text("silent")),
    Tool::new("asking", "Asks for one thing of every kind.", |_| text(
        "asked"
    ))
    .asking(vec![
        request(
            Capability::ReadFolder("/docs".to_owned()),
            "To read the documents.",
            false
        ),
        request(
            Capability::WriteFolder("/notes".to_owned()),
            "To keep the notes.",
            false
        ),
        request(
            Capability::Variable("LANG".to_owned()),
            "To speak your language.",
            true
        ),
        request(
            Capability::Network("api.example.com:443".to_owned()),
            "To ask the service.",
            true
        ),
        request(Capability::Network("*".to_owned()), "", true),
        request(Capability::State, "To count.", false),
    ]),
];
