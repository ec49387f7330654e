package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is a rate limit: Rate on average, Burst at once.
type Rate struct {
	// The average rate, such as 100/s, 600/m or 1000/h.
	Rate Frequency `yaml:"rate" required:"true" access:"joint: rate"`
	// How many requests are allowed at once after a pause.
	Burst int `yaml:"burst,omitempty" min:"1" max:"1000000" absent:"what the rate allows in two seconds" access:"joint: rate"`

	off bool // written as off
}

// CallRate is a rate limit for calls of a tool or a service.
type CallRate struct {
	// The average rate, such as 100/s, 600/m or 1000/h.
	Rate Frequency `yaml:"rate" required:"true" access:"joint: rate"`
	// How many calls are allowed at once after a pause.
	Burst int `yaml:"burst,omitempty" min:"1" max:"1000000" absent:"what the rate allows in two seconds" access:"joint: rate"`
	// Whether the rate applies to all callers together, or to each principal (without a token: each address).
	Per Per `yaml:"per" default:"all" access:"joint: rate"`

	off bool // written as off
}

// Per selects the callers that share a rate limit.
type Per string

// The values of [Per].
const (
	PerAll       Per = "all"       // all callers together
	PerPrincipal Per = "principal" // each has its own
)

func (Per) values() []string { return []string{"all", "principal"} }

func (r *Rate) short() short     { return stopped(&r.off) }
func (r *CallRate) short() short { return stopped(&r.off) }

// On reports whether there is a rate: it may be nil, or written as off.
func (r *Rate) On() bool { return r != nil && !r.off }

// On reports whether there is a rate: it may be nil, or written as off.
func (r *CallRate) On() bool { return r != nil && !r.off }

// AtOnce returns the burst.
func (r *Rate) AtOnce() int { return r.Rate.burst(r.Burst) }

// AtOnce returns the burst.
func (r *CallRate) AtOnce() int { return r.Rate.burst(r.Burst) }

// Frequency is how often something may happen. In a file it is written like 100/s, 600/m or 1000/h.
type Frequency struct{ interval time.Duration }

// Interval returns the time between two of it.
func (f Frequency) Interval() time.Duration { return f.interval }

// MarshalText returns the frequency as it is written in a file.
func (f Frequency) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// String returns the frequency as it is written in a file, in the shortest time that has a whole number of them.
func (f Frequency) String() string {
	for _, u := range frequencyUnits() {
		if n := u.time / max(f.interval, 1); n > 0 && u.time/n == f.interval {
			return strconv.FormatInt(int64(n), 10) + "/" + u.name
		}
	}
	return ""
}

func (f Frequency) burst(given int) int {
	if given > 0 || f.interval <= 0 {
		return given
	}
	return max(1, int(2*time.Second/f.interval))
}

type frequencyUnit struct {
	name string
	time time.Duration
}

func frequencyUnits() []frequencyUnit {
	return []frequencyUnit{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}}
}

// maxFrequency is the most of something in the time that it is counted in.
const maxFrequency = 1_000_000

func (f *Frequency) parse(text string) error {
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(number, 10, 31)
	for _, u := range frequencyUnits() {
		if u.name != unit || err != nil {
			continue
		}
		if n == 0 || n > maxFrequency {
			return errors.New("must be from 1 to 1000000 in its time")
		}
		f.interval = u.time / time.Duration(n)
		return nil
	}
	return errors.New(`must be a number in a time, such as "100/s", "600/m" or "1000/h"`)
}

// OwnFrequency is how often something may happen, or off.
type OwnFrequency struct {
	Frequency
	off bool
}

// MarshalText returns the frequency as it is written in a file.
func (f OwnFrequency) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// String returns the frequency as it is written in a file.
func (f OwnFrequency) String() string {
	if f.off {
		return "off"
	}
	return f.Frequency.String()
}

func (f *OwnFrequency) parse(text string) error {
	if text == "off" {
		f.off = true
		return nil
	}
	if err := f.Frequency.parse(text); err != nil {
		return fmt.Errorf("%w, or off", err)
	}
	return nil
}
