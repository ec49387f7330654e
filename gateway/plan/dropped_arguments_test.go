package plan

import (
	"encoding/json"
	"testing"
)

// TestDropCosts holds that a call without such arguments costs no allocation, and is passed on as it came (pains row 121).
func TestDropCosts(t *testing.T) {
	p := &Plan{dropped: []string{"toolCallId", "a name of more than thirty-two bytes"}}
	args := json.RawMessage(`{ "id": 7, "another name of more than thirty-two bytes": {"toolCallId": 1} }`)
	if n := testing.AllocsPerRun(100, func() {
		if kept, dropped := p.Drop(args); &kept[0] != &args[0] || dropped != nil {
			t.Fatal(string(kept), dropped)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
