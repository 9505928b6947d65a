prx_skill::skill!();

fn main() {}
