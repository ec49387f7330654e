package config

import "reflect"

// Job is the way in which the gateway follows work that a call has started.
type Job struct {
	// The job's URL in the response body. It must have the origin that was called.
	Location Pointer `yaml:"location,omitempty" absent:"the headers Operation-Location, Azure-AsyncOperation and Location, in this order" access:"none: where a response is read"`
	// The request that returns the state of the job.
	Status *JobOperation `yaml:"status,omitempty" absent:"a link of the document, else GET on the job's URL" access:"joint: operation"`
	// The request that returns the result of a successful job.
	Result *JobOperation `yaml:"result,omitempty" absent:"GET on the URL at result_location, else output" access:"joint: operation"`
	// The request that cancels a job whose result is no longer wanted.
	Cancel *JobOperation `yaml:"cancel,omitempty" absent:"none: the job is only no longer polled" access:"joint: operation"`
	// Whether the document's links define result and cancel, if these are absent.
	Links bool `yaml:"links" default:"false" access:"joint: operation"`
	// The job's state in a status response. true means done.
	State Pointer `yaml:"state,omitempty" absent:"the first of /status, /state, /properties/provisioningState and /done that is a string or boolean" access:"none: where a response is read"`
	// Values of states, in addition to common ones. Any other value means running.
	States JobStates `yaml:"states,omitempty" access:"none: where a response is read" empty:"leave it out"`
	// Where a status response has the progress of the job: a number.
	Progress Pointer `yaml:"progress,omitempty" absent:"the first of /progress, /percentComplete, /percent_complete and /percent that is a number" access:"none: where a response is read"`
	// Where a status response has the final value of the progress: a number.
	Total Pointer `yaml:"total,omitempty" absent:"100 if progress is absent or has no number beside it" access:"none: where a response is read"`
	// Where a status response has a message about the progress or the failure.
	Message Pointer `yaml:"message,omitempty" absent:"the first of /message, /statusMessage, /status_message, /detail and /error/message that is a string" access:"none: where a response is read"`
	// Where a status response has the result of a successful job.
	Output Pointer `yaml:"output,omitempty" absent:"the first of /result, /response and /output, else the whole body" access:"none: where a response is read"`
	// The URL of the result in a status response. It must have the origin that was called.
	ResultLocation Pointer `yaml:"result_location,omitempty" absent:"the first of /resourceLocation, /resultUrl and /result_url that is a string" access:"none: where a response is read; it leads to the same origin"`
	// The time between polls, unless the service sends Retry-After. It grows up to tenfold.
	Interval Duration `yaml:"interval" default:"1s" min:"10ms" max:"1h" access:"none: limits bound the cost of a call"`
	// How long a call waits for the job if the client does not support tasks. Then it returns the job's state.
	Wait Duration `yaml:"wait" default:"30s" min:"1ms" max:"1h" zero:"true" access:"none: limits bound the cost of a call"`
	// How long clients can query a task, from its beginning.
	TTL Duration `yaml:"ttl" default:"24h" min:"1m" max:"720h" access:"none: limits bound the cost of a call"`
	// Whether a call waits or is refused if its client does not support tasks.
	WithoutTasks WithoutTasks `yaml:"without_tasks" default:"wait" access:"none: which clients wait"`
	// Questions of a running job to the user, for clients with tasks.
	Questions *JobQuestions `yaml:"questions,omitempty" absent:"nothing" access:"joint: operation"`
	// The webhook by which the service reports the end of a job. Needs server.public_url.
	Callback *JobCallback `yaml:"callback,omitempty" absent:"no webhook" access:"joint: operation"`

	off bool // written as false
}

func (j *Job) short() short { return switchedOff(&j.off) }

// Off reports whether it was written as false: no answer of the operation begins a job.
func (j *Job) Off() bool { return j != nil && j.off }

// JobCallback is a URL that the service gets with the call and is to call once, when the job has ended.
type JobCallback struct {
	// The argument that receives the webhook's URL. Callers don't see it.
	Argument string `yaml:"argument,omitempty" absent:"from the document's only callback" access:"none: arguments of the operation"`
	// The signature that authenticates the webhook. Without it only the unguessable URL does.
	Signature *CallbackSignature `yaml:"signature,omitempty" absent:"none" access:"joint: operation"`
	// The maximum bytes of the body.
	MaxBody ByteSize `yaml:"max_body" default:"64KiB" min:"1KiB" max:"1MiB" access:"none: limits bound the cost of a call"`
}

// CallbackSignature is a header with an HMAC of the body of a callback.
type CallbackSignature struct {
	// The name of the header.
	Header string `yaml:"header" required:"true" access:"none: the presence of a signature is compared; its secret is rotated"`
	// The secret that is shared with the service.
	Secret Secret `yaml:"secret" required:"true" access:"none: the presence of a signature is compared; its secret is rotated"`
	// The hash function.
	Hash CallbackHash `yaml:"hash" default:"sha256" access:"none: the presence of a signature is compared; its secret is rotated"`
	// The encoding of the signature.
	Encoding CallbackEncoding `yaml:"encoding" default:"hex" access:"none: the presence of a signature is compared; its secret is rotated"`
	// The text before the signature, such as sha256=.
	Prefix string `yaml:"prefix,omitempty" absent:"nothing" access:"none: the presence of a signature is compared; its secret is rotated"`
}

// CallbackHash is the hash function of an HMAC.
type CallbackHash string

// The values of [CallbackHash].
const (
	CallbackSHA256 CallbackHash = "sha256"
	CallbackSHA512 CallbackHash = "sha512"
)

func (CallbackHash) values() []string { return []string{"sha256", "sha512"} }

// CallbackEncoding is how an HMAC is written.
type CallbackEncoding string

// The values of [CallbackEncoding].
const (
	CallbackHex    CallbackEncoding = "hex"
	CallbackBase64 CallbackEncoding = "base64"
)

func (CallbackEncoding) values() []string { return []string{"hex", "base64"} }

// JobQuestions are the questions of a running job to the user.
type JobQuestions struct {
	// The questions in a status response: an array of objects, or an object by key. The job waits for answers while it
	// is not empty.
	List Pointer `yaml:"list" required:"true" access:"none: where a response is read"`
	// The question's key, unique within the job. Not needed if the questions are in an object.
	Key Pointer `yaml:"key" default:"/id" access:"none: where a response is read"`
	// Where a question has the text for the user.
	Message Pointer `yaml:"message" default:"/message" access:"none: where a response is read"`
	// The JSON Schema of the form: an object of strings, numbers, booleans and choices.
	Schema Pointer `yaml:"schema" default:"/schema" access:"none: where a response is read"`
	// The operation that receives one answer.
	Answer JobAnswer `yaml:"answer" required:"true" access:"joint: operation"`
}

// JobAnswer is the request that brings the answer to one question.
type JobAnswer struct {
	// The operationId.
	Operation string `yaml:"operation" required:"true" access:"joint: operation"`
	// Where the operation's arguments come from, as for status.
	Bind map[string]string `yaml:"bind,omitempty" absent:"none" access:"none: arguments of the operation" count:"50: has more than %[2]d arguments" length:"256" is:"job-source"`
	// The argument for the question's key.
	Key string `yaml:"key,omitempty" absent:"not sent" access:"none: arguments of the operation"`
	// The argument for accept, decline or cancel.
	Action string `yaml:"action,omitempty" absent:"not sent, and any action but accept cancels the job" access:"none: arguments of the operation"`
	// The argument for the completed form, an object. Absent unless the action is accept.
	Content string `yaml:"content,omitempty" absent:"not sent" access:"none: arguments of the operation"`
}

// WithoutTasks is the handling of a call whose client does not support tasks.
type WithoutTasks string

// The values of [WithoutTasks].
const (
	WithoutTasksWait   WithoutTasks = "wait"
	WithoutTasksRefuse WithoutTasks = "refuse"
)

func (WithoutTasks) values() []string { return []string{"wait", "refuse"} }

// JobOperation is a request about a job: an operation of the same API with its arguments, or a method for the job's URL.
type JobOperation struct {
	// The operationId.
	Operation string `yaml:"operation,omitempty" absent:"method, for the job's URL" access:"joint: operation"`
	// The method for the job URL. POST has no body.
	Method JobMethod `yaml:"method,omitempty" absent:"the operation's" access:"joint: operation"`
	// The sources of the operation's arguments: JSON Pointers into the first response's body, OpenAPI runtime
	// expressions such as $response.header.Location, or literal text.
	Bind map[string]string `yaml:"bind,omitempty" absent:"none" access:"none: arguments of the operation" count:"50: has more than %[2]d arguments" length:"256" is:"job-source"`
}

// JobStates are further words for the states of a job. Case, spaces, - and _ don't count.
type JobStates struct {
	// The job has not ended.
	Working []string `yaml:"working,omitempty" absent:"only accepted, in progress, pending, processing, queued, running and similar" count:"50: has more than %[2]d words"`
	// The job succeeded.
	Succeeded []string `yaml:"succeeded,omitempty" absent:"only complete, completed, done, finished, ok, ready, succeeded, success, successful and true" count:"50: has more than %[2]d words"`
	// The job failed.
	Failed []string `yaml:"failed,omitempty" absent:"only aborted, error, errored, expired, failed, failure, rejected, timedout and timeout" count:"50: has more than %[2]d words"`
	// The job was cancelled.
	Cancelled []string `yaml:"cancelled,omitempty" absent:"only canceled, cancelled, stopped, terminated and revoked" count:"50: has more than %[2]d words"`
}

// JobMethod is a method for the URL of a job.
type JobMethod string

// The values of [JobMethod].
const (
	JobGet    JobMethod = "GET"
	JobDelete JobMethod = "DELETE"
	JobPost   JobMethod = "POST"
)

func (JobMethod) values() []string { return []string{"GET", "DELETE", "POST"} }

// DefaultJob returns a job with the defaults of all keys.
func DefaultJob() *Job {
	j := &Job{}
	(&loader{}).defaults(reflect.ValueOf(j).Elem())
	return j
}
