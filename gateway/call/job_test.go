package call_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/update"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
	"drawbridge/test/gatewaytest"
)

// TestJobs runs the cases of testdata/jobs: calls whose answers are jobs, in time that does not pass by itself.
//
//	api.yaml       the document; gatewaytest.ReportsAPI, if it is not there
//	config.yaml    as in TestCalls; the service is http://jobs.test/v1
//	answers        what the service answers, one after the other: raw HTTP, with lines === between. A line === 404 stands for an
//	               answer with that status and no more; "=== break" ends the connection. The last is given again and again.
//	calls          one JSON object a line: {"after": "2s", "method": "tools/call", "name": …, "arguments": …, "revision": …,
//	               "tasks": true, "elicitation": true (what the client can), "progress": true, "leave": "3s", "notify": a URL that it wants
//	               to be called at}; leave is when the client goes away.
//	               $TASK in "params" is the id of the last task. {"method": "callback", "type": …, "body": …, "sign": …} is the service
//	               that calls the URL that it got last; "callback" in another call is that, so long after it began.
//	requests       expected: what reached the service, with the time in whole seconds
//	results        expected: for each call what the client got, with the time
func TestJobs(t *testing.T) {
	cases.Run(t, "testdata/jobs/*.txtar", func(t *testing.T, file string, archive *txtar.Archive) {
		synctest.Test(t, func(t *testing.T) { runJobCase(t, file, archive) })
	})
}

// TestLongJobMessage: what a service says of a job takes as long as what is shown of it, whatever its length.
func TestLongJobMessage(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{strings.Repeat("password:", 1<<20/9), "which has failed (failed): password:password:"},
		// What stands where it is cut is not shown in part.
		{strings.Repeat("€", 1000) + " password=" + strings.Repeat("aB3", 1<<10), "which has failed (failed): €€"},
	} {
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nrules: [{match: {operation: makeReport}, set: {job: {}}}]",
			gatewaytest.NewJobService("HTTP/1.1 200 OK\nLocation: jobs/7\nContent-Type: application/json\n\n{\"status\":\"failed\",\"message\":\""+c.message+"\"}"))
		begin := time.Now()
		_, got := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport"}, "")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%.20s…: %v", c.message, took)
		}
		if text := string(bytes.Join(got, nil)); !strings.Contains(text, c.want) || strings.Contains(text, "aB3") {
			t.Errorf("%.20s…: %.300s", c.message, text)
		}
	}
}

func runJobCase(t *testing.T, file string, archive *txtar.Archive) {
	section := func(name string) string {
		for _, f := range archive.Files {
			if f.Name == name {
				return string(f.Data)
			}
		}
		return ""
	}
	api := section("api.yaml")
	if api == "" {
		api = gatewaytest.ReportsAPI
	}
	service := gatewaytest.NewJobService(section("answers"))
	g := gatewaytest.StartJobs(t, api, section("config.yaml"), service)
	var results strings.Builder
	task := ""
	for line := range strings.Lines(section("calls")) {
		var in gatewaytest.JobCall
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatalf("calls: %v", err)
		}
		if in.After != "" {
			time.Sleep(gatewaytest.Duration(t, in.After))
		}
		if in.Method == "callback" {
			fmt.Fprintf(&results, "%s callback %d\n", service.Clock(), service.Call(t, g, in))
			continue
		}
		if in.Callback != nil {
			time.AfterFunc(gatewaytest.Duration(t, in.Callback.After), func() { service.Call(t, g, *in.Callback) })
		}
		status, answer := gatewaytest.CallJob(t, g, in, task)
		fmt.Fprintf(&results, "%s %s", service.Clock(), cmp.Or(in.Method, "tools/call"))
		if status != 200 {
			fmt.Fprintf(&results, " %d", status)
		}
		results.WriteByte('\n')
		for _, message := range answer {
			if id := gatewaytest.TaskID(message); id != "" {
				task = id
			}
			if task != "" {
				message = bytes.ReplaceAll(message, []byte(task), []byte("$TASK"))
			}
			results.Write(pretty(message))
			results.WriteByte('\n')
		}
	}
	for _, part := range []struct{ name, got string }{{"requests", hideNames(service.List())}, {"results", hideNames(results.String())}} {
		if *update.Expected {
			gatewaytest.Set(archive, part.name, part.got)
			continue
		}
		if diff := gocmp.Diff(section(part.name), part.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part.name, diff)
		}
	}
	if *update.Expected {
		cases.Write(t, file, archive)
	}
}

// pretty writes a message as a person reads it, without what all messages have.
func pretty(message []byte) []byte {
	var parts struct {
		Method                string
		Params, Result, Error json.RawMessage
	}
	if json.Unmarshal(message, &parts) != nil {
		return message
	}
	var b bytes.Buffer
	for _, part := range []struct {
		name string
		text json.RawMessage
	}{{"result", parts.Result}, {"error", parts.Error}, {parts.Method, parts.Params}} {
		if part.text == nil {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(part.text, &members) == nil {
			delete(members, "_meta")
			for _, name := range []string{"createdAt", "lastUpdatedAt"} {
				var at time.Time
				if json.Unmarshal(members[name], &at) == nil {
					members[name], _ = json.Marshal(at.UTC().Format("15:04:05"))
				}
			}
			part.text, _ = json.Marshal(members)
		}
		b.WriteString(part.name + " ")
		_ = json.Indent(&b, part.text, "", "  ") // it was JSON
	}
	return b.Bytes()
}
