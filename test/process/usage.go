package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
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

// ClearPeak makes PeakRSS of a process begin anew from what is resident now (proc(5): /proc/pid/clear_refs).
func ClearPeak(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("begin the peak of memory anew: %w", err)
	}
	return nil
}

// Descriptors counts the open files and connections of a process.
func Descriptors(pid int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0, fmt.Errorf("count descriptors: %w", err)
	}
	return len(entries), nil
}

// SocketMemory is how many bytes the buffers of all TCP connections of the machine take, by proc_net(5).
func SocketMemory() (int, error) {
	stat, err := os.ReadFile("/proc/net/sockstat")
	if err != nil {
		return 0, fmt.Errorf("memory of sockets: %w", err)
	}
	return parseSocketMemory(string(stat))
}

func parseSocketMemory(stat string) (int, error) {
	for line := range strings.Lines(stat) {
		name, values, _ := strings.Cut(line, ":")
		_, mem, _ := strings.Cut(values, " mem ")
		if pages, err := strconv.Atoi(strings.TrimSpace(mem)); name == "TCP" && err == nil {
			return pages * os.Getpagesize(), nil
		}
	}
	return 0, fmt.Errorf("memory of sockets: /proc/net/sockstat does not tell it: %q", stat)
}

// Metrics returns what the gateway whose admin listener has the address says of itself, by the names of the metrics as they are
// written, with their labels.
func Metrics(ctx context.Context, admin string) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New("/metrics: " + resp.Status)
	}
	values := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		if v, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			values[line[:at]] = v
		}
	}
	return values, lines.Err()
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
