package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/deliver"
	"drawbridge/test/gatewaytest"
)

// TestLinksExpire holds that a link ends, and that one of a tool that is gone, or that changes something, reads nothing.
func TestLinksExpire(t *testing.T) {
	service := gatewaytest.FileService(t)
	g := gatewaytest.Start(t, gatewaytest.LinkDocument, gatewaytest.LinkConfig, service.URL)
	synctest.Test(t, func(t *testing.T) {
		e := g.Current().Main
		seal := func(tool string) string {
			return deliver.LinkScheme + g.Links().Seal([]byte(tool+"\n{}"), time.Now().Add(time.Minute), "ada")
		}
		good := seal("getFile")
		if p, args := e.ToRead(good, "ada"); p == nil || string(args) != "{}" {
			t.Errorf("plan %+v, arguments %s", p, args)
		}
		for _, uri := range []string{seal("postFile"), seal("gone"), deliver.LinkScheme, deliver.LinkScheme + strings.Repeat("a", deliver.MaxLink)} {
			if p, _ := e.ToRead(uri, "ada"); p != nil {
				t.Errorf("%s is read by %s", uri, p.Tool.Name)
			}
		}
		time.Sleep(time.Minute)
		if p, _ := e.ToRead(good, "ada"); p != nil {
			t.Error("the link has no end")
		}
	})
}
