//! Breaks down in the middle of a call, in every way that a program can.

use std::hint::black_box;

use prx_guests::{Tool, guest, text};

guest![
    Tool::new("panic", "Panics with that message.", |arguments| {
        panic!("{}", arguments.text("message")?)
    })
    .takes("message", "string"),
    Tool::new("unreachable", "Traps without a word.", |_| {
        std::process::abort()
    }),
    Tool::new("exit", "Exits with that code.", |arguments| {
        let code = i32::try_from(arguments.number("code")?).unwrap_or(i32::MAX);
        eprintln!("leaving with {code}");
        std::process::exit(code)
    })
    .takes("code", "integer"),
    Tool::new("fault", "Reads outside of its memory.", |_| {
        let outside = black_box(0xffff_0000_usize) as *const u8;
        // SAFETY: none, that is the point: the sandbox has to end this read.
        text(unsafe { outside.read_volatile() }.to_string())
    }),
    Tool::new("not_utf8", "Answers with text that is no UTF-8.", |_| {
        let bytes = black_box(vec![b'a', 0xff, 0xfe]);
        // SAFETY: none, that is the point: nothing looks into the text before the host.
        text(unsafe { String::from_utf8_unchecked(bytes) })
    }),
];
