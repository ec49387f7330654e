package config

import "reflect"

// Job says how a call goes on whose answer is that the work has begun.
type Job struct {
	// Where the body of that answer names the job's URL. It must be of the origin that is called.
	Location Pointer `yaml:"location,omitempty" absent:"the headers Operation-Location, Azure-AsyncOperation and Location, in this order"`
	// What tells how the job stands.
	Status *JobOperation `yaml:"status,omitempty" absent:"a link of the document, else GET on the job's URL"`
	// What gives the result of a job that has succeeded.
	Result *JobOperation `yaml:"result,omitempty" absent:"GET where result_location points, else output"`
	// What stops a job of which nobody wants the result any more.
	Cancel *JobOperation `yaml:"cancel,omitempty" absent:"nothing: it is only not asked for any more"`
	// Whether the links that the document has at the operation's answers tell result and cancel, where these are absent: by their
	// names, or, of cancel, by the method DELETE. What tells the status is taken from them in any case, if only one link can be it.
	Links bool `yaml:"links" default:"false"`
	// Where an answer of status has the word for the job's state. A state can also be true, which is done, or false.
	State Pointer `yaml:"state,omitempty" absent:"the first of /status, /state, /properties/provisioningState and /done that is a word, true or false"`
	// The words for states, beside those that are common. What is none of them means that the job goes on.
	States JobStates `yaml:"states,omitempty"`
	// Where it says how far the job is: a number.
	Progress Pointer `yaml:"progress,omitempty" absent:"the first of /progress, /percentComplete, /percent_complete and /percent that is a number"`
	// Where it says how much there is to do: a number.
	Total Pointer `yaml:"total,omitempty" absent:"100 if progress is absent or has no number beside it"`
	// Where it says in words what goes on, or what went wrong.
	Message Pointer `yaml:"message,omitempty" absent:"the first of /message, /statusMessage, /status_message, /detail and /error/message that is a text"`
	// Where it has the result of a job that has succeeded.
	Output Pointer `yaml:"output,omitempty" absent:"the first of /result, /response and /output, else all of it"`
	// Where it has the URL of the result. It must be of the origin that is called.
	ResultLocation Pointer `yaml:"result_location,omitempty" absent:"the first of /resourceLocation, /resultUrl and /result_url that is a text"`
	// How long to wait before the next look at a job, where the service does not say (Retry-After). It grows as the job goes
	// on, to ten times as much.
	Interval Duration `yaml:"interval" default:"1s" min:"10ms" max:"1h"`
	// How long a call waits for the end of its job, within its timeout, where the client can't take a task. Then it answers how
	// the job stands.
	Wait Duration `yaml:"wait" default:"30s" min:"1ms" max:"1h" zero:"true"`
	// How long clients with tasks can ask for one, from its beginning.
	TTL Duration `yaml:"ttl" default:"24h" min:"1m" max:"720h"`
	// What becomes of a call whose client can't take a task: it waits, or is refused before anything is sent.
	WithoutTasks WithoutTasks `yaml:"without_tasks" default:"wait"`
	// What a job asks the user while it runs, for clients with tasks.
	Questions *JobQuestions `yaml:"questions,omitempty" absent:"nothing"`
	// How the service tells by itself that a job has ended, besides being asked. It needs server.public_url, and can't stand in a
	// document.
	Callback *JobCallback `yaml:"callback,omitempty" absent:"it does not"`

	off bool // written as false
}

// turn makes jobs of which nothing is said but that they are begun, or none.
func (j *Job) turn(on bool) { j.off = !on }

// Off reports whether it was written as false: no answer of the operation begins a job.
func (j *Job) Off() bool { return j != nil && j.off }

// JobCallback is a URL that the service gets with the call and is to call once, when the job has ended.
type JobCallback struct {
	// The argument of the call that is the URL. The gateway fills it in, and callers don't see it.
	Argument string `yaml:"argument,omitempty" absent:"where the document's only callback expects it"`
	// What proves that it is the service that calls. Without it, only the URL does, which nobody else knows.
	Signature *CallbackSignature `yaml:"signature,omitempty" absent:"none"`
	// The most bytes of its body.
	MaxBody ByteSize `yaml:"max_body" default:"64KiB" min:"1KiB" max:"1MiB"`
}

// CallbackSignature is a header with an HMAC of the body of a callback.
type CallbackSignature struct {
	// The name of the header.
	Header string `yaml:"header" need:"true"`
	// The secret that the service has too.
	Secret Secret `yaml:"secret" need:"true"`
	// The hash function.
	Hash CallbackHash `yaml:"hash" default:"sha256"`
	// How the bytes are written.
	Encoding CallbackEncoding `yaml:"encoding" default:"hex"`
	// What stands before them, such as sha256=.
	Prefix string `yaml:"prefix,omitempty" absent:"nothing"`
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

// JobQuestions says how a job asks the user something.
type JobQuestions struct {
	// Where an answer of status lists the questions: an array of objects, or an object of them by their keys. As long as the
	// job has not ended and the list is not empty, the job waits for answers.
	List Pointer `yaml:"list" need:"true"`
	// Where a question has its key, which is never that of another question of the job. The keys of an object of questions are
	// known.
	Key Pointer `yaml:"key" default:"/id"`
	// Where it has the words for the user.
	Message Pointer `yaml:"message" default:"/message"`
	// Where it has the JSON Schema of the form: an object of texts, numbers, booleans and choices.
	Schema Pointer `yaml:"schema" default:"/schema"`
	// The operation that takes one answer.
	Answer JobAnswer `yaml:"answer" need:"true"`
}

// JobAnswer is the request that brings the answer to one question.
type JobAnswer struct {
	// The operationId.
	Operation string `yaml:"operation" need:"true"`
	// Where the operation's arguments come from, as for status.
	Bind map[string]string `yaml:"bind,omitempty" absent:"none"`
	// The argument that is the question's key.
	Key string `yaml:"key,omitempty" absent:"it is not sent"`
	// The argument that is accept, decline or cancel.
	Action string `yaml:"action,omitempty" absent:"it is not sent, and all but accept stops the job"`
	// The argument that is the form as the user has filled it in, an object. Of an answer that is not accept there is none.
	Content string `yaml:"content,omitempty" absent:"it is not sent"`
}

// WithoutTasks says what becomes of a call whose client can't take a task.
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
	Operation string `yaml:"operation,omitempty" absent:"method, for the job's URL"`
	// The method for the job's URL: GET, DELETE or POST. POST has no body.
	Method JobMethod `yaml:"method,omitempty" absent:"the operation's"`
	// Where the operation's arguments come from: JSON Pointers into the body of the answer that began the job, or runtime
	// expressions of OpenAPI, such as $response.header.Location or $request.path.id. What is neither is the value itself.
	Bind map[string]string `yaml:"bind,omitempty" absent:"none"`
}

// JobStates are further words for the states of a job. Case, spaces, - and _ don't count.
type JobStates struct {
	// The job has not ended.
	Working []string `yaml:"working,omitempty" absent:"none but accepted, in progress, pending, processing, queued, running and the like"`
	// It has done what was asked.
	Succeeded []string `yaml:"succeeded,omitempty" absent:"none but complete, completed, done, finished, ok, ready, succeeded, success, successful and true"`
	// It has not.
	Failed []string `yaml:"failed,omitempty" absent:"none but aborted, error, errored, expired, failed, failure, rejected, timedout and timeout"`
	// Somebody has stopped it.
	Cancelled []string `yaml:"cancelled,omitempty" absent:"none but canceled, cancelled, stopped, terminated and revoked"`
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

// DefaultJob is a job of which the configuration says nothing.
func DefaultJob() *Job {
	j := &Job{}
	(&loader{}).defaults(reflect.ValueOf(j).Elem())
	return j
}
