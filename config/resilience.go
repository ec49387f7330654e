package config

// Breaker is the circuit breaker of a service.
type Breaker struct {
	// The share of calls that must fail, in per cent: by time-out, failed or broken connection, or a response that
	// errors counts.
	Failures int `yaml:"failures" default:"50" min:"1" max:"100"`
	// How many calls must have ended within the window before the share is evaluated.
	Calls int `yaml:"calls" default:"20" min:"1" max:"100000"`
	// The time window that is evaluated.
	Window Duration `yaml:"window" default:"10s" min:"100ms" max:"10m"`
	// How long no calls are sent. Calls fail at once in the meantime.
	Pause Duration `yaml:"pause" default:"5s" min:"100ms" max:"10m"`
	// The number of test calls that must then succeed before the breaker closes.
	Probes int `yaml:"probes" default:"3" min:"1" max:"1000"`
	// Responses that count as failures: all 5xx, or with gateway all except 500 and 501.
	Errors BreakerErrors `yaml:"errors" default:"gateway"`

	off bool // written as off
}

// BreakerErrors selects the responses that count as failures of a service.
type BreakerErrors string

// The values of [BreakerErrors].
const (
	ErrorsGateway BreakerErrors = "gateway" // 5xx but 500 and 501
	ErrorsAll     BreakerErrors = "all"     // 5xx
)

func (BreakerErrors) values() []string { return []string{"gateway", "all"} }

func (b *Breaker) short() short { return stopped(&b.off) }

// Off reports whether it was written as off: every call is sent.
func (b *Breaker) Off() bool { return b.off }

// Retries limits how often a failed request is sent again.
type Retries struct {
	// How often one request is retried at most.
	Max int `yaml:"max" default:"2" min:"1" max:"10"`
	// The retry budget, in per cent of the calls, in addition to ten initial retries.
	Budget int `yaml:"budget" default:"10" min:"1" max:"100"`

	off bool // written as off
}

func (r *Retries) short() short { return stopped(&r.off) }

// Off reports whether it was written as off: nothing is sent again.
func (r *Retries) Off() bool { return r.off }
