//! Whatever several people do to one request in whatever order, it ends once: one receipt, one authorization, one signal of
//! its end, one chain.

use handoff_protocol::{
    chain::{ChainVerifier, Head},
    decision::{
        Amend, Answer, Arm, DecisionError, Effects, ErrorCode, Fired, Policy, Raise, Request, Waiter, amend, answer,
        arm, join, lapse,
        terms::{RequestState, SignalType},
    },
    duration::ExactDuration,
    principal::{Principal, Role},
};
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest},
};

use super::scene::{Scene, ask, json, machine, person_of, with};

/// Something that happens to the request.
#[derive(Clone, Copy, Debug)]
enum Act {
    Part { who: u128, field: u8, value: bool },
    Decide { who: u128, value: bool },
    PassOn { who: u128 },
    Unable { who: u128 },
    Arm,
    Lapse,
    Amend { title: bool },
    AskAgain { title: bool },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let who = || 1..5_u128;
    let act = prop_oneof![
        (who(), 0..3_u8, any::<bool>()).prop_map(|(who, field, value)| Act::Part { who, field, value }),
        (who(), any::<bool>()).prop_map(|(who, value)| Act::Decide { who, value }),
        who().prop_map(|who| Act::PassOn { who }),
        who().prop_map(|who| Act::Unable { who }),
        Just(Act::Arm),
        Just(Act::Lapse),
        any::<bool>().prop_map(|title| Act::Amend { title }),
        any::<bool>().prop_map(|title| Act::AskAgain { title }),
    ];
    vec(act, 0..30)
}

fn question(quorum: u64) -> String {
    let choice = |name: &str| format!(r#"{{"name":"{name}","type":"boolean","required":true}}"#);
    let fields = ["f0", "f1", "f2"].map(choice).join(",");
    let body = with(&ask(&fields), "requires.authority.quorum", &quorum.to_string());
    with(&body, "dedupe_key", r#""one""#)
}

/// A request with everything that came of it so far.
struct Story {
    scene: Scene,
    request: Request,
    waiter: Waiter,
    head: Head,
    chain: ChainVerifier,
    receipts: usize,
    authorizations: usize,
    endings: usize,
    disposed: u64,
    events: Vec<&'static str>,
}

impl Story {
    fn begin(quorum: u64) -> Self {
        let mut scene = Scene::new();
        let (request, waiter) = scene.raise(&question(quorum));
        Self {
            scene,
            request,
            waiter,
            head: Head::GENESIS,
            chain: ChainVerifier::after(Head::GENESIS),
            receipts: 0,
            authorizations: 0,
            endings: 0,
            disposed: 0,
            events: Vec::new(),
        }
    }

    fn who(number: u128) -> Principal {
        person_of(number, Role::Editor)
    }

    fn answer(&mut self, who: u128, body: &str) -> Result<Effects, DecisionError> {
        let who = Self::who(who);
        let command = Answer::read(&who, json(body))?;
        answer(&self.request, &command, &who, &self.waiter, &self.head, &mut self.scene.context())
    }

    fn run(&mut self, act: Act) -> Result<Effects, DecisionError> {
        let title = |changed: bool| if changed { "Other words?" } else { "Refund?" };
        match act {
            Act::Part { who, field, value } => {
                self.answer(who, &format!(r#"{{"values":{{"f{field}":{value}}},"partial":true}}"#))
            }
            Act::Decide { who, value } => {
                self.answer(who, &format!(r#"{{"values":{{"f0":true,"f1":false,"f2":{value}}}}}"#))
            }
            Act::PassOn { who } => self
                .answer(who, r#"{"values":{},"disposition":"delegate","delegate_to":{"kind":"role","value":"admin"}}"#),
            Act::Unable { who } => self.answer(who, r#"{"values":{},"disposition":"unable"}"#),
            Act::Arm => {
                let command = Arm::read(&machine(), json("{}"))?;
                arm(&self.request, &command, &machine(), &self.scene.context())
            }
            Act::Lapse => {
                self.scene.now = self.scene.now.saturating_add(ExactDuration::from_seconds(901));
                match lapse(&self.request, &self.waiter, &mut self.scene.context())? {
                    Fired::Acted(effects) => Ok(*effects),
                    Fired::NotDue { .. } => Err(DecisionError::Internal),
                }
            }
            Act::Amend { title: changed } => {
                let body = format!(r#"{{"prompt":{{"title":"{}"}}}}"#, title(changed));
                let command = Amend::read(&machine(), json(&body), &Policy::default())?;
                amend(&self.request, &command, &machine(), &self.waiter, &mut self.scene.context())
            }
            Act::AskAgain { title: changed } => {
                // Once the request has ended, asking again is a new request.
                self.request.check_pending()?;
                let quorum = self.request.requires()?.authority.quorum;
                let body = with(&question(quorum), "prompt.title", &format!("\"{}\"", title(changed)));
                let command = Raise::read(&machine(), json(&body), &Policy::default())?;
                join(&command, &machine(), &self.request, Some(&self.waiter), &mut self.scene.context())
            }
        }
    }

    /// Carries effects out, as an engine would.
    fn apply(&mut self, effects: Effects) {
        self.request = effects.request;
        self.waiter = effects.waiter.unwrap_or_else(|| self.waiter.clone());
        if let Some(sealed) = effects.receipt {
            self.chain.check(&json(&sealed.text));
            self.head = sealed.link.head();
            self.receipts += 1;
        }
        self.authorizations += usize::from(effects.authorization.is_some());
        self.endings += effects.signals.iter().filter(|signal| signal.signal_type != SignalType::AttemptLapsed).count();
        self.disposed += u64::from(effects.disposition.is_some());
        self.events.extend(effects.events.iter().map(|event| event.event_type.as_str()));
    }
}

proptest! {
    #[test]
    fn every_interleaving_ends_once(quorum in 1..4_u64, acts in acts()) {
        let mut story = Story::begin(quorum);
        // Three who agree are enough, whatever happened before.
        let finish = (1..4_u128).map(|who| Act::Decide { who, value: true });
        for act in acts.into_iter().chain(finish) {
            let was_open = story.request.state == RequestState::Pending;
            let had_begun = story.request.is_in_progress();
            let before = story.request.clone();
            match story.run(act) {
                Ok(effects) => {
                    prop_assert!(was_open, "{act:?} after the end");
                    prop_assert!(effects.request.version >= before.version);
                    // What somebody began to answer keeps its words and its whole declaration.
                    if had_begun {
                        prop_assert_eq!(&effects.request.prompt, &before.prompt);
                        prop_assert_eq!(effects.request.declared(), before.declared());
                    }
                    story.apply(effects);
                }
                Err(refused) => {
                    let expected = match act {
                        Act::Lapse => ErrorCode::InternalError,
                        _ if !was_open => ErrorCode::AlreadyAnswered,
                        _ => ErrorCode::RequestInProgress,
                    };
                    prop_assert_eq!(refused.code(), expected, "{:?}", act);
                }
            }
            let is_open = story.request.state == RequestState::Pending;
            let ends = usize::from(!is_open);
            prop_assert_eq!((story.receipts, story.authorizations, story.endings), (ends, ends, ends));
            prop_assert_eq!(story.request.progress.dispositions, story.disposed);
        }
        prop_assert_eq!(story.request.state, RequestState::Answered);
        prop_assert_eq!(story.events.iter().filter(|event| **event == "request.answered").count(), 1);
        prop_assert!(story.chain.finish().is_sound());
    }
}
