package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used so far. Linux only: it is read from /proc.
type Usage struct {
	User, System time.Duration // processor time, in steps of 10 ms
	RSS, PeakRSS int64         // resident memory in bytes, now and at most
}

// CPU is all processor time.
func (u Usage) CPU() time.Duration { return u.User + u.System }

// Usage reads the counters of the child.
func (c *Child) Usage() (Usage, error) { return ReadUsage(c.PID()) }

// ReadUsage reads the counters of a process (proc(5): /proc/pid/stat and /proc/pid/status).
func ReadUsage(pid int) (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, fmt.Errorf("read processor time: %w", err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Usage{}, fmt.Errorf("read memory: %w", err)
	}
	return parseUsage(stat, status)
}

func parseUsage(stat, status []byte) (Usage, error) {
	// The second field is the program's name in parentheses, and may itself hold blanks and parentheses.
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	if end < 0 || len(fields) < 13 {
		return Usage{}, fmt.Errorf("parse stat %q: too few fields", stat)
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux that Go supports
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return Usage{}, fmt.Errorf("parse stat %q: no processor time", stat)
	}
	u := Usage{User: time.Duration(user) * tick, System: time.Duration(system) * tick}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		switch {
		case name == "VmRSS" && err == nil:
			u.RSS = kib << 10
		case name == "VmHWM" && err == nil:
			u.PeakRSS = kib << 10
		}
	}
	return u, nil
}
