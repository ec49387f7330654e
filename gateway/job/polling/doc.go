// Package polling follows jobs: the asynchronous work of a service that a call has started. It recognizes what the response to the call
// says of the job, polls the service for the status, waits for the end as long as the call may take, and fetches the result. Tasks use it
// for jobs that outlive their calls.
//
// It stands above package call, whose calls send the requests, and below the delivery of results. The rule that must not be broken: a job
// gives no caller what a direct call would not, so every response about one is authorized and redacted as that of the operation that it
// is of.
package polling
