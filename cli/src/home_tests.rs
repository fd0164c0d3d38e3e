use std::collections::BTreeMap;

use pretty_assertions::assert_eq;

use super::*;

fn found(variables: &[(&str, &str)]) -> Result<PathBuf, Option<String>> {
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let environment = Environment(variables.collect::<BTreeMap<_, _>>());
    Home::find(&environment, Path::new("/w")).map(|home| home.path).map_err(|failure| failure.message)
}

#[test]
fn the_variable_goes_before_the_users_folder() {
    assert_eq!(found(&[("TENON_HOME", "/t"), ("HOME", "/u")]), Ok(PathBuf::from("/t")));
    assert_eq!(found(&[("TENON_HOME", "t")]), Ok(PathBuf::from("/w/t")));
    assert_eq!(found(&[("TENON_HOME", ""), ("HOME", "/u")]), Ok(PathBuf::from("/u/.tenon")));
    let message = "neither TENON_HOME nor HOME is set: set one, so that there is a home folder";
    assert_eq!(found(&[]), Err(Some(message.to_owned())));
}
