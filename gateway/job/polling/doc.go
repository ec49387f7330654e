// Package polling follows the jobs that calls start. It finds the job in the response to the call, polls the service for the status, waits
// for the end as long as the call may take, and fetches the result. Tasks use it for jobs that outlive their calls.
//
// Its requests are calls of package call, and package deliver delivers the results. The rule that must not be broken: a job shows a caller
// nothing that a direct call would not, so each response about a job is authorized and redacted like a response of the same operation.
package polling
