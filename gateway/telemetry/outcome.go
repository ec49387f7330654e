package telemetry

// Outcome says how a call of a tool ended. The set is closed, since it labels a metric; the kinds of
// [drawbridge/gateway/upstream.Error] belong to it too, and in the audit log the reasons of refusals.
type Outcome string

// The outcomes of calls.
const (
	OutcomeOK          Outcome = "ok"
	OutcomeRedirect    Outcome = "redirect"     // the service answered 3xx
	OutcomeClientError Outcome = "client_error" // the service answered 4xx
	OutcomeServerError Outcome = "server_error" // the service answered 5xx
	OutcomeArguments   Outcome = "bad_arguments"
	OutcomeScope       Outcome = "insufficient_scope"
	OutcomeCondition   Outcome = "not_permitted"
	OutcomeUnconfirmed Outcome = "not_confirmed"
	OutcomeUnanswered  Outcome = "not_answered" // the user did not give what the call needs
	OutcomeAsked       Outcome = "asked"        // the client comes again with the user's answer
	OutcomeJob         Outcome = "job"          // the service goes on with it, and the client was told how to ask
	OutcomeJobFailed   Outcome = "job_failed"   // the service went on with it, in vain
	OutcomeNoTasks     Outcome = "no_tasks"     // only clients with tasks may call it
	OutcomeNoBase      Outcome = "no_base_url"
	OutcomeHeader      Outcome = "bad_header"    // a header of the caller that is to be passed on can't be
	OutcomeProjection  Outcome = "not_projected" // the answer could not be reduced as the operator wants
	OutcomeInternal    Outcome = "internal"
	OutcomeUnaudited   Outcome = "unaudited" // the audit log has no room for it
	OutcomeLimited     Outcome = "limited"   // refused by the gateway because of a rate or a full resource
	// OutcomeSubjectRefused is that of [drawbridge/auth/credential.SubjectRefused].
	OutcomeSubjectRefused Outcome = "token_subject_refused"
	OutcomeUncounted      Outcome = "uncounted" // refused, because the rate could not be counted (state.closed)
)

// Good reports whether an outcome is no error. A job that goes on and a question to the user are none.
func (o Outcome) Good() bool { return o == OutcomeOK || o == OutcomeJob || o == OutcomeAsked }

// The outcomes that are in the audit log alone.
const (
	OutcomeUnknown         Outcome = "unknown_tool"    // a metric may not have names that callers make up
	OutcomeInvalid         Outcome = "invalid_request" // refused before its tool is known
	OutcomeUnauthenticated Outcome = "unauthenticated"
	OutcomeForeignHost     Outcome = "foreign_host"
	OutcomeForeignOrigin   Outcome = "foreign_origin"
)
