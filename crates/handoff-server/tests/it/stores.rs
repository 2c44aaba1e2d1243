//! Everything that runs on a SQLite file runs on a Postgres database.

/// Makes a test of each function on each store: `name::on_sqlite` and `name::on_postgres`.
macro_rules! on_every_store {
    ($($name:ident),+ $(,)?) => {
        $(mod $name {
            use crate::support::deployment::Deployment;

            #[test]
            fn on_sqlite() {
                super::$name(&Deployment::sqlite());
            }

            #[test]
            fn on_postgres() {
                super::$name(&Deployment::postgres());
            }
        })+
    };
}
