//! Every word that the pages say of themselves, in one place: a language is a value of [`Words`], and one that lacks a
//! word does not compile.

mod english;
mod german;
mod say;

use handoff_protocol::{decision::Lacking, principal::AuthStrength};

pub(crate) use self::say::{FieldFault, Problem, field_title, fill};

/// The languages, in the order in which they are offered; the first is the one for everybody else.
pub(crate) const LANGUAGES: [&Words; 2] = [&english::WORDS, &german::WORDS];

/// A title and a paragraph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saying {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
}

/// What one of something is called, and what several are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) one: &'static str,
    pub(crate) many: &'static str,
}

/// A language. In texts, `{}` is where a value goes.
#[derive(Debug)]
pub(crate) struct Words {
    /// The language, as HTML and HTTP spell it.
    pub(crate) code: &'static str,
    /// What its speakers call it.
    pub(crate) own_name: &'static str,

    pub(crate) product: &'static str,
    pub(crate) leave: &'static str,
    pub(crate) skip: &'static str,
    pub(crate) settings: &'static str,
    pub(crate) settings_title: &'static str,
    pub(crate) settings_text: &'static str,
    pub(crate) settings_language: &'static str,
    pub(crate) settings_zone: &'static str,
    pub(crate) settings_zone_utc: &'static str,
    pub(crate) settings_save: &'static str,
    pub(crate) times_in: &'static str,
    pub(crate) language_label: &'static str,
    pub(crate) everywhere_title: &'static str,
    pub(crate) everywhere_text: &'static str,
    pub(crate) everywhere_submit: &'static str,

    pub(crate) inbox_title: &'static str,
    pub(crate) inbox_mine: &'static str,
    pub(crate) inbox_all: &'static str,
    pub(crate) inbox_views: &'static str,
    pub(crate) inbox_empty: &'static str,
    pub(crate) inbox_empty_all: &'static str,
    pub(crate) inbox_more: &'static str,
    pub(crate) inbox_first: &'static str,
    pub(crate) inbox_back: &'static str,
    pub(crate) inbox_read_only: &'static str,
    pub(crate) inbox_changed: &'static str,

    pub(crate) asked: &'static str,
    pub(crate) asked_by: &'static str,
    pub(crate) asked_by_somebody: &'static str,
    pub(crate) on_behalf_of: &'static str,
    pub(crate) you_on_behalf_of: &'static str,
    pub(crate) waiter: &'static str,
    pub(crate) deadline: &'static str,
    pub(crate) no_deadline: &'static str,
    pub(crate) fresh_until: &'static str,
    pub(crate) otherwise: &'static str,
    pub(crate) why_authority: &'static str,
    pub(crate) evidence: &'static str,
    pub(crate) not_a_web_link: &'static str,
    pub(crate) new_window: &'static str,
    pub(crate) image: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) details: &'static str,
    pub(crate) request_number: &'static str,
    pub(crate) shown_digest: &'static str,
    pub(crate) shown_version: &'static str,
    pub(crate) to_the_answer: &'static str,
    pub(crate) test_mode: &'static str,

    pub(crate) effect_title: &'static str,
    pub(crate) effect_once: &'static str,
    pub(crate) effect_gated: &'static str,
    pub(crate) effect_advisory: &'static str,
    pub(crate) effect_digest: &'static str,
    pub(crate) effect_open: &'static str,
    pub(crate) effect_expired: &'static str,
    pub(crate) effect_spent: &'static str,

    pub(crate) your_answer: &'static str,
    pub(crate) optional: &'static str,
    pub(crate) secret: &'static str,
    pub(crate) secret_elsewhere: &'static str,
    pub(crate) confirm: &'static str,
    pub(crate) yes: &'static str,
    pub(crate) no: &'static str,
    pub(crate) no_answer: &'static str,
    pub(crate) choose_any: &'static str,
    pub(crate) pick: &'static str,
    pub(crate) document: &'static str,
    pub(crate) schema: &'static str,
    pub(crate) file_ref: &'static str,
    pub(crate) note: &'static str,
    pub(crate) note_help: &'static str,
    pub(crate) note_too_long: &'static str,
    pub(crate) submit: &'static str,
    pub(crate) submit_help: &'static str,
    pub(crate) submit_help_quorum: &'static str,
    pub(crate) counter: &'static str,

    pub(crate) state_pending: &'static str,
    pub(crate) state_answered: &'static str,
    pub(crate) state_expired: &'static str,
    pub(crate) state_cancelled: &'static str,
    pub(crate) state_superseded: &'static str,
    pub(crate) urgent: &'static str,
    pub(crate) critical: &'static str,

    pub(crate) question: &'static str,
    pub(crate) receipt_title: &'static str,
    pub(crate) receipt_by: &'static str,
    pub(crate) decided_by: &'static str,
    pub(crate) decided_by_policy: &'static str,
    pub(crate) decided_by_link: &'static str,
    pub(crate) decided_at: &'static str,
    pub(crate) receipt_id: &'static str,
    pub(crate) receipt_digest: &'static str,
    pub(crate) receipt_height: &'static str,
    pub(crate) receipt_note: &'static str,
    pub(crate) receipt_decision: &'static str,
    pub(crate) receipt_nothing: &'static str,
    pub(crate) receipt_help: &'static str,
    pub(crate) proof: &'static str,
    pub(crate) proof_help: &'static str,
    pub(crate) attested: &'static str,
    pub(crate) provided: &'static str,
    pub(crate) none_chosen: &'static str,
    pub(crate) counts_as_refusal: &'static str,
    pub(crate) default_taken: &'static str,
    pub(crate) ended_unanswered: &'static str,
    pub(crate) newer_request: &'static str,

    pub(crate) enter_title: &'static str,
    pub(crate) enter_as: &'static str,
    pub(crate) enter_somebody: &'static str,
    pub(crate) enter_text: &'static str,
    pub(crate) enter_until: &'static str,
    pub(crate) enter_submit: &'static str,
    pub(crate) enter_not_you: &'static str,

    pub(crate) sign_in: Saying,
    pub(crate) sign_in_again: Saying,
    pub(crate) two_sessions: Saying,
    pub(crate) left_everywhere: Saying,
    pub(crate) not_found: Saying,
    pub(crate) link_not_valid: Saying,
    pub(crate) form_not_ours: Saying,
    pub(crate) form_malformed: Saying,
    pub(crate) form_too_large: Saying,
    pub(crate) wrong_method: Saying,
    pub(crate) forbidden: Saying,
    pub(crate) broken: Saying,

    pub(crate) faulty: Saying,
    pub(crate) sink_unavailable: Saying,
    pub(crate) stale: Saying,
    pub(crate) stale_and_faulty: Saying,
    pub(crate) too_late_others: Saying,
    pub(crate) too_late_yours: Saying,
    pub(crate) too_late_expired: Saying,
    pub(crate) too_late_cancelled: Saying,
    pub(crate) too_late_superseded: Saying,
    pub(crate) expired: Saying,
    pub(crate) cancelled: Saying,
    pub(crate) superseded: Saying,
    pub(crate) corrected: Saying,
    pub(crate) corrected_to: &'static str,
    pub(crate) kept: &'static str,
    pub(crate) endorsed: Saying,
    pub(crate) given_in_part: Saying,
    pub(crate) one_answered: &'static str,
    pub(crate) many_answered: &'static str,
    pub(crate) one_agreed: &'static str,
    pub(crate) many_agreed: &'static str,
    pub(crate) may_not_answer: Saying,
    pub(crate) not_enough_authority: Saying,
    pub(crate) strength_reading: Saying,
    pub(crate) strength_answering: Saying,
    pub(crate) no_second_factor: Saying,
    pub(crate) answered_by: &'static str,
    pub(crate) lapsed_at: &'static str,
    pub(crate) lapsed_nothing_done: &'static str,
    pub(crate) reason_given: &'static str,

    pub(crate) live_settled: &'static str,
    pub(crate) live_settled_text: &'static str,
    pub(crate) live_settled_link: &'static str,
    pub(crate) live_changed: &'static str,
    pub(crate) live_changed_text: &'static str,
    pub(crate) live_changed_link: &'static str,
    pub(crate) live_signed_out: &'static str,
    pub(crate) live_signed_out_text: &'static str,

    pub(crate) otherwise_default: &'static str,
    pub(crate) otherwise_park: &'static str,
    pub(crate) otherwise_deny: &'static str,

    pub(crate) lacks_role: &'static str,
    pub(crate) lacks_reauth: &'static str,
    pub(crate) lacks_mfa: &'static str,
    pub(crate) lacks_session: &'static str,
    pub(crate) lacks_assignment: &'static str,

    pub(crate) fault_tick: &'static str,
    pub(crate) fault_choose_some: &'static str,
    pub(crate) fault_choose_one: &'static str,
    pub(crate) fault_fill_in: &'static str,
    pub(crate) fault_not_shown: &'static str,
    pub(crate) fault_document_numbers: &'static str,
    pub(crate) fault_schema: &'static str,
    pub(crate) fault_schema_at: &'static str,
    pub(crate) fault_schema_root: &'static str,
    pub(crate) fault_too_long: &'static str,
    pub(crate) fault_not_json: &'static str,
    pub(crate) json_end: &'static str,
    pub(crate) json_value: &'static str,
    pub(crate) json_name: &'static str,
    pub(crate) json_mark: &'static str,
    pub(crate) json_number: &'static str,
    pub(crate) json_string: &'static str,
    pub(crate) json_twice: &'static str,
    pub(crate) json_deep: &'static str,
    pub(crate) json_trailing: &'static str,
    pub(crate) json_other: &'static str,
    pub(crate) fault_other: &'static str,
    pub(crate) fault_stray: &'static str,
    pub(crate) number_between: &'static str,
    pub(crate) number_from: &'static str,
    pub(crate) number_to: &'static str,
    pub(crate) number_any: &'static str,
    pub(crate) text_limit: &'static str,

    pub(crate) effect_once_pair: &'static str,
    pub(crate) effect_once_quorum: &'static str,
    pub(crate) effect_advisory_quorum: &'static str,
    pub(crate) part_submit: &'static str,
    pub(crate) part_help: &'static str,
    pub(crate) besides_title: &'static str,
    pub(crate) besides_note: &'static str,
    pub(crate) pass_on_title: &'static str,
    pub(crate) pass_on_help: &'static str,
    pub(crate) pass_on_to: &'static str,
    pub(crate) pass_on_submit: &'static str,
    pub(crate) unable_title: &'static str,
    pub(crate) unable_help: &'static str,
    pub(crate) unable_submit: &'static str,
    pub(crate) to_role: &'static str,
    pub(crate) to_group: &'static str,
    pub(crate) to_rotation: &'static str,
    pub(crate) to_anyone: &'static str,
    pub(crate) story_pending: &'static str,
    pub(crate) story_settled: &'static str,
    pub(crate) story_gave: &'static str,
    pub(crate) story_answered: &'static str,
    pub(crate) story_agreed: &'static str,
    pub(crate) story_passed_on: &'static str,
    pub(crate) story_unable: &'static str,
    pub(crate) receipt_by_parts: &'static str,
    pub(crate) resources_title: &'static str,
    pub(crate) resource_surface: &'static str,
    pub(crate) resource_document: &'static str,
    pub(crate) resource_view: &'static str,
    pub(crate) resource_drive: &'static str,
    pub(crate) resource_reach: &'static str,
    pub(crate) resource_isolated: &'static str,
    pub(crate) resource_request: &'static str,
    pub(crate) resource_space: &'static str,
    pub(crate) resource_org: &'static str,
    pub(crate) resource_users: &'static str,
    pub(crate) resource_reversible: &'static str,
    pub(crate) resource_irreversible: &'static str,
    pub(crate) resource_identities: &'static str,
    pub(crate) resource_held: &'static str,
    pub(crate) resource_until: &'static str,
    pub(crate) resource_over: &'static str,
    pub(crate) resource_open: &'static str,
    pub(crate) not_done: &'static str,
    pub(crate) nothing_given: Saying,
    pub(crate) sent_before: Saying,
    pub(crate) stale_besides: Saying,

    pub(crate) date: &'static str,
    pub(crate) months: [&'static str; 12],
    pub(crate) no_time_left: &'static str,
    pub(crate) under_a_minute_left: &'static str,
    pub(crate) left: &'static str,
    pub(crate) days: Count,
    pub(crate) hours: Count,
    pub(crate) minutes: Count,
}

impl Words {
    /// What to say first to somebody who reads and lacks something to answer.
    pub(crate) fn can_only_read(&self, lacking: Lacking) -> Saying {
        match lacking {
            Lacking::Strength(AuthStrength::Mfa) => self.no_second_factor,
            Lacking::Strength(_) => self.strength_reading,
            Lacking::Role(_) | Lacking::Assignment | Lacking::Scope(_) => self.may_not_answer,
        }
    }

    /// What to say first to somebody who answered and lacks something.
    pub(crate) fn answered_without(&self, lacking: Lacking) -> Saying {
        match lacking {
            Lacking::Strength(AuthStrength::Reauth) => self.strength_answering,
            Lacking::Strength(_) | Lacking::Role(_) | Lacking::Assignment | Lacking::Scope(_) => {
                self.not_enough_authority
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_place_for_the_same_values() {
        // Each word of the struct, in order, as it prints: what differs is what it says, not how many values it takes.
        let places = |words: &Words| {
            let printed = format!("{words:#?}");
            printed.lines().map(|line| line.matches("{}").count()).collect::<Vec<_>>()
        };
        let first = places(LANGUAGES[0]);
        for words in LANGUAGES {
            assert_eq!(places(words), first, "{}", words.code);
        }
    }

    #[test]
    fn no_word_of_one_language_was_left_in_another() {
        let lines = |words: &Words| format!("{words:#?}").lines().map(str::to_owned).collect::<Vec<_>>();
        let same: Vec<(String, String)> = lines(LANGUAGES[0])
            .into_iter()
            .zip(lines(LANGUAGES[1]))
            .filter(|(one, other)| one == other && one.chars().filter(|letter| letter.is_lowercase()).count() > 30)
            .collect();
        assert_eq!(same, Vec::new());
    }
}
