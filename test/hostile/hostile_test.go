package hostile

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var toDir = flag.String("to", "", "a `folder`")
func TestW(t *testing.T) {
	for _, k := range Kinds() {
		for _, f := range []int{1, 3, 10,100} {
			text := k.Make(k.N * f)
			if strings.HasPrefix(text, "{") && !json.Valid([]byte(text)) && k.Name != "keys-twin" { t.Errorf("%s is not JSON", k.Name) }
			os.WriteFile(filepath.Join(*toDir, fmt.Sprintf("%s.%d", k.Name, f)), []byte(text), 0o600)
		}
	}
}
