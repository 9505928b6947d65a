//! `prx-host check`.

use anyhow::Result;
use prx_tests::fixtures::{Handwritten, importing_newer_log, skill_of_version};

use crate::place::Place;

#[test]
fn it_finds_everything_at_once() -> Result<()> {
    let place = Place::new(
        "[tools.custom.docs]\nmodule = \"answer.wasm\"\n\
         [tools.custom.docs.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\n\
         [tools.custom.gone]\nmodule = \"gone.wasm\"\n",
    )?;
    place.add("answer", &Handwritten::default().build()?)?;
    place.add("newer", &skill_of_version("9.9.9")?)?;
    place.add("log", &importing_newer_log()?)?;
    place.add("half", &Handwritten::default().build()?[..100])?;
    let ran = place.run_warm(&["check"])?;
    assert_eq!(ran.code(), 2);
    place.snapshot("check", &ran);
    Ok(())
}

#[test]
fn what_is_well_is_said_to_be_well() -> Result<()> {
    let place = Place::new("")?;
    place.add("answer", &Handwritten::default().build()?)?;
    place.snapshot("check_well", &place.run(&["check", "--strict"])?);
    Ok(())
}

#[test]
fn what_a_skill_asks_for_and_does_not_get_is_a_warning() -> Result<()> {
    let place = Place::with_guests(&["hints"], "")?;
    let answer = place.run(&["check", "--json"])?;
    assert_eq!(answer.code(), 0, "{}", answer.text());
    let found = answer.json()?;
    assert!(found["warnings"].as_u64() > Some(0), "{found}");
    assert_eq!(found["errors"], 0);
    assert_eq!(place.run(&["check", "--strict"])?.code(), 2);
    Ok(())
}

#[test]
fn what_a_server_could_not_offer_is_a_warning() -> Result<()> {
    let place = Place::new(
        "[serve.resources.docs]\nfolder = \"none\"\n\
         [serve.resources.page]\ntool = \"anwser\"\nuri = \"page://{id}\"\n\
         [serve.prompts.ask]\ntool = \"nobody_there\"\n",
    )?;
    place.add("answer", &Handwritten::default().build()?)?;
    let checked = place.run(&["check"])?;
    assert_eq!(checked.code(), 0, "{}", checked.text());
    for words in [
        "the resource `docs` has no files",
        "serve.resources.docs.folder (",
        "the resource `page` answers nothing",
        "did you mean `answer`?",
        "the prompt `ask` answers nothing",
        "3 warnings",
    ] {
        assert!(
            checked.text().contains(words),
            "{words}: {}",
            checked.text()
        );
    }
    Ok(())
}
