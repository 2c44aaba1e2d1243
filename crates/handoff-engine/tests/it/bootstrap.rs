//! Principals and tokens that a deployment brings along.

use handoff_engine::{
    identity::{Bootstrap, Holder},
    store::{RecordKey, RecordKind, Store as _},
};
use handoff_protocol::{
    decision::ErrorCode,
    digest::Digest,
    id::{OrgId, TenantId, UserId},
    principal::{AuthStrength, Role, Scopes},
    secret::Secret,
};

use crate::world::{World, code};

const TOKEN: &str = "brought-along";

fn entry(tenant: OrgId, holder: Holder, role: Role) -> Bootstrap {
    Bootstrap {
        tenant,
        holder,
        token: Secret::new(TOKEN.to_owned()),
        role,
        strength: AuthStrength::Session,
        display: Some("Ada".to_owned()),
        scopes: Scopes::All,
        on_behalf_of: None,
        test: false,
    }
}

fn person() -> Holder {
    Holder::Person(UserId::parse("usr_01K3M7QW8ZC4YRXB2N6VD9FTHE").unwrap())
}

/// How often the token's record was written.
async fn version(world: &World) -> u64 {
    let key = RecordKey::new(RecordKind::from_static("credential"), Digest::of(TOKEN).hex());
    world.store.get(&TenantId::System, &[key]).await.unwrap().remove(0).unwrap().version
}

#[tokio::test]
async fn what_is_loaded_authenticates_and_loading_it_again_writes_nothing() {
    let world = World::new().await;
    let elsewhere = OrgId::parse("org_01K3M7QW8ZC4YRXB2N6VD9FTHE").unwrap();
    let load = async |role| world.engine.load_principals(vec![entry(elsewhere, person(), role)]).await.unwrap();
    load(Role::Editor).await;
    assert!(world.engine.tenants().await.unwrap().contains(&elsewhere), "the tenant is made");
    let principal = world.engine.authenticate(Some(TOKEN)).await.unwrap();
    assert_eq!((principal.tenant, principal.role), (elsewhere, Role::Editor));
    assert_eq!(principal.display.as_deref(), Some("Ada"));

    let before = version(&world).await;
    load(Role::Editor).await;
    assert_eq!(version(&world).await, before);
    load(Role::Admin).await;
    assert_eq!(world.engine.authenticate(Some(TOKEN)).await.unwrap().role, Role::Admin);
    assert_eq!(world.engine.members(elsewhere).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_token_that_was_revoked_stays_revoked_when_it_is_loaded_again() {
    let world = World::new().await;
    for holder in [person(), Holder::Link] {
        world.engine.load_principals(vec![entry(world.tenant, holder, Role::Viewer)]).await.unwrap();
        world.engine.revoke(TOKEN).await.unwrap();
        world.engine.load_principals(vec![entry(world.tenant, holder, Role::Admin)]).await.unwrap();
        assert_eq!(code(world.engine.authenticate(Some(TOKEN)).await), ErrorCode::InvalidApiKey);
    }
}
