package redact

import (
	"encoding/json"
	"testing"
)

// TestEscapes checks that escaped characters are matched as decoded, and that JSON stays JSON.
func TestEscapes(t *testing.T) {
	for message, want := range map[string]string{
		`{"e":"{\u0022password\u0022: \u0022hunter22\u0022}"}`:           `{"e":"{\"password\": \"[redacted]\"}"}`,
		`{"e":"\u0027password\u0027: \u0027hunter22\u0027"}`:             `{"e":"'password': '[redacted]'"}`,
		`{"e":"Authorization:\u0020Bearer\u0020aB3d5f7h\u002Be1Gh9k2m"}`: `{"e":"Authorization: Bearer [redacted]"}`,
		`{"e":"a=1\u0026password=hunter22"}`:                             `{"e":"a=1&password=[redacted]"}`,
		`{"e":"\u003cdb.internal\u003e"}`:                                `{"e":"<[address]>"}`,
		`{"e":"\u003chttps://db.corp/x\u003e"}`:                          `{"e":"<[address]/x>"}`,
		`{"e":"\fhttp://db/x\b"}`:                                        `{"e":" [address]/x "}`,
		`"00000\u001b://0"`:                                              `"00000 ://0"`,
		`["at\u00a010.1.2.3"]`:                                           `["at [address]"]`,
		`{"e":"\u00e4\uD83D\uDE00\ud83d\u005c\u000a\u0009\u0041"}`:       `{"e":"ä😀�\\\n\tA"}`,
		`{"e":"\ud83d\ud83d\ude00\ude00x"}`:                              `{"e":"�😀�x"}`,
		`{"e":"C:\\users\\u0041\\bin"}`:                                  `{"e":"C:\\users\\u0041\\bin"}`,
		`{"e":"cut \ud83d\u`:                                             `{"e":"cut �\u`,
		`{"e":"cut \u00`:                                                 `{"e":"cut \u00`,
		`{"e":"cut \u00+1`:                                               `{"e":"cut \u00+1`,
		`{"e":"cut \u0041\`:                                              `{"e":"cut A\`,
		`"-----BEGIN PRIVATE KEY-----"`:                                  `"[redacted]"`,
		`{"e":"-----BEGIN PRIVATE KEY-----\nMIIE","f":1}`:                `"[redacted]"`,
		`{"a":{"k":"-----BEGIN RSA PRIVATE KEY-----"},"b":["MIIE","-----END RSA PRIVATE KEY-----"]}`: `"[redacted]"`,
		`["-----BEGIN PRIVATE KEY-----","MIIE","-----END PRIVATE KEY-----","x"]`:                     `["[redacted]","x"]`,
		// Numbers are replaced like strings, and the text after a separator at the end of a string is not its value.
		`{"password":12345678,"pin":123456}`:             `{"password":"[redacted]","pin":"[redacted]"}`,
		`{"a password:":12345678,"password":"hunter22"}`: `{"a password:":12345678,"password":"[redacted]"}`,
		`{"a password\\":12345678}`:                      `{"a password\\":"[redacted]"}`,
		`["#0 a(1): b\\",{"a":"b"}]`:                     `["",{"a":"b"}]`,
		`[error] password="hunter22"`:                    `[error] password="[redacted]"`,
		// JSON in a string of JSON, and one more level.
		`{"e":"{\"f\":\"{\\\"\\\\u0070assword\\\":1}\"}"}`:                       `{"e":"{\"f\":\"{\\\"\\\\u0070assword\\\":1}\"}"}`,
		`{"e":"{\"f\":\"{\\\"\\\\u0070assword\\\":\\\"hunter22\\\"}\"}"}`:        `{"e":"{\"f\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"}`,
		`{"e":"{\"\\u0070assword\":\"hunter22\"}"}`:                              `{"e":"{\"password\":\"[redacted]\"}"}`,
		`{"e":"it said: {\"\\u0070assword\":\"hunter22\"}"}`:                     `{"e":"it said: {\"password\":\"[redacted]\"}"}`,
		`{"e":"{\"f\":\"{\\u0022password\\u0022:\\u0022hunter22\\u0022}\"}"}`:    `{"e":"{\"f\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"}`,
		`{"e":"{\"f\":\"{\\\"token\\\": \\\"0123456789abcdef\\\"}\"}"}`:          `{"e":"{\"f\":\"{\\\"token\\\": \\\"[redacted]\\\"}\"}"}`,
		`{"e":"{\"password\":\"hunter\\\"22\\\\\",\"x\":\"y\"}"}`:                `{"e":"{\"password\":\"[redacted]\\\\\",\"x\":\"y\"}"}`,
		`{"e":"{\"f\":\"{\\\"password\\\":\\\"a\\\\\\\"bcd\\\"}\"}"}`:            `{"e":"{\"f\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"}`,
		`{"e":"{\"at\":\"https:\\/\\/db.example\\/x\"}"}`:                        `{"e":"{\"at\":\"[address]\\/x\"}"}`,
		`{"e":"{\"a\":\"\\ud83d\\ude00 \\u0031\\u0030.1.2.3 \\u000a\\u005c\"}"}`: `{"e":"{\"a\":\"😀 [address] \\n\\\\\"}"}`,
		`{"e":"{\"a\":\"\\u0031\\u0030.1.2.3 \\u00`:                              `{"e":"{\"a\":\"[address] \\u00`,
		`{"e":"{\"password\":\"hunter22`:                                         `{"e":"{\"password\":\"[redacted]`,
		`{"e":"{\"f\":\"\\\`:                                                     `{"e":"{\"f\":\"\\\`,
		`"\"{\\\"\\\\u0070in\\\":\\\"1234\\\"}\""`:                               `"\"{\\\"pin\\\":\\\"[redacted]\\\"}\""`,
		`{"e":"C:\\users\\u0041\\bin, password=hunter22"}`:                       `{"e":"C:\\users\\u0041\\bin, password=[redacted]"}`,
		`no JSON: C:\bin\u0041\f`:                                                `no JSON: C:\bin\u0041\f`,
	} {
		got := Error(message)
		if got != want {
			t.Errorf("%s\n→ %s\nwant %s", message, got, want)
		}
		if json.Valid([]byte(message)) && !json.Valid([]byte(got)) {
			t.Errorf("this is no JSON any more: %s", got)
		}
	}
}
