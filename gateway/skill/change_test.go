package skill_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestSkillChanges: a change below the folder is served without a request to reload, and told to clients; one with an error is not used
// until it is mended.
func TestSkillChanges(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": "apis: [{spec: a.yaml, name: a, base_url: " + service.URL + "}]\nskills: [skills]\n", "a.yaml": gatewaytest.Document("A", "list"),
		"skills/guide/SKILL.md": skillFile("guide"),
	})
	r.Served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	defer func() {
		if err := r.EndStreams(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	const told = "notifications/resources/list_changed"
	l := gatewaytest.ListenBy(t, server, "/mcp", "2026-07-28", "", `{"resourcesListChanged":true}`)
	listed := func() string {
		found, _ := result(t, r.Gateway, "2026-07-28", "skills/list", "", "")
		var all strings.Builder
		for _, s := range found.Skills {
			all.Write(s)
		}
		return all.String()
	}
	change := func(name, text, want string) {
		t.Helper()
		r.Write(map[string]string{name: text})
		r.Eventually(name, func() bool { return strings.Contains(listed(), want) && !strings.Contains(listed(), ".new") })
	}
	change("skills/guide/scripts/check.py", "1", `guide/scripts/check.py","digest":"sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"`)
	l.Want(told)
	change("skills/other/SKILL.md", skillFile("other"), "skill://other/SKILL.md")
	change("skills/other/SKILL.md", "no front matter", "skill://other/SKILL.md")
	r.Eventually("the refusal", func() bool {
		return strings.Contains(r.Status().Config.Error, "other/SKILL.md:1:1: must begin with a line ---")
	})
	change("skills/other/SKILL.md", strings.Replace(skillFile("other"), "& more", "and less", 1), "and less")
	if e := r.Status().Config.Error; e != "" {
		t.Error(e)
	}
}
