package gateway_test

import (
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
)

// TestLockKnowsFormerNames: a tool whose name is another one since names are transliterated, or FastAPI's functions are kept, or
// that of whose API is, is approved under the name that the release before gave it, and operators are told. Anything else of it must be as it was
// approved (pains row 131).
func TestLockKnowsFormerNames(t *testing.T) {
	const long = "invoices_api_v1_organizations__organization_id__projects__project_id__invoices_get"
	doc := `openapi: 3.1.0
info: {title: 订单服务, version: "1"}
paths:
  /orders: {post: {operationId: 创建订单, summary: 新增接口, tags: [订单], responses: {"200": {description: ok}}}}
  /users: {post: {operationId: post用户, summary: 新增接口, tags: [用户], responses: {"200": {description: ok}}}}
  /plain: {get: {operationId: plain, responses: {"200": {description: ok}}}}
  /api/v1/organizations/{organization_id}/projects/{project_id}/invoices: {get: {operationId: ` + long + `, responses: {"200": {description: ok}}}}
`
	former := map[string]string{
		"chuang_jian_ding_dan_310903dd": "post_orders", "post_yong_hu_53e75e04": "post",
		"invoices": "invoices_api_v1_organizations__organization_id__project_faa4cd8d", "plain": "plain",
	}
	r := started(t, "- a.yaml\n")
	cfg := "tools: {lock: approved.lock}\napis: [{spec: a.yaml, base_url: \"http://127.0.0.1:1\"}]\n"
	r.Write(map[string]string{"a.yaml": doc, "drawbridge.yaml": strings.Replace(cfg, "tools: {lock: approved.lock}", "", 1)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	tools := r.Lock().Tools()
	for i, tool := range tools {
		before, ok := former[tool.Name]
		if !ok || before != tool.Name && !slices.Contains(tool.Former, before) {
			t.Fatalf("%q was %q, want one of %v", tool.Name, tool.Former, former)
		}
		if tool.FormerAPI != "api" {
			t.Errorf("the API of %q was %q", tool.Name, tool.FormerAPI)
		}
		tools[i].Name, tools[i].API = before, "api"
	}
	approve := func(tools []config.LockedTool) []string {
		t.Helper()
		r.Write(map[string]string{"drawbridge.yaml": cfg, "approved.lock": string(config.NewLock(tools).Encode())})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r.Tools()
	}
	if got := approve(tools); len(got) != len(tools) {
		t.Errorf("tools = %q, want all; log %s", got, r.log)
	}
	if n := r.logged("tools are approved under former names"); n != 1 || r.logged("post is now post_yong_hu_53e75e04") != 1 || r.logged("plain of api is now of ding-dan-fu-wu") != 1 {
		t.Errorf("%d warnings; log %s", n, r.log)
	}
	other := slices.Clone(tools)
	for i := range other {
		if other[i].Name == "post" {
			other[i].Path = "/other"
		}
	}
	if got := approve(other); slices.Contains(got, "post_yong_hu_53e75e04") || len(got) != len(tools)-1 {
		t.Errorf("with another path: tools = %q", got)
	}

	// A description that is no longer that of two tools loses what told them apart, and is approved all the same.
	approve(tools)
	r.Write(map[string]string{"a.yaml": strings.Replace(doc, "post用户, summary: 新增接口", "post用户, summary: 新增用户", 1)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Eventually("only the tool with other words is held back", func() bool {
		got := r.Tools()
		return len(got) == len(tools)-1 && !slices.Contains(got, "post_yong_hu_53e75e04")
	})
}
