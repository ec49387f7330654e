package config

import (
	"strings"
	"time"
)

// authority checks a file of certificates, and has it watched.
func (l *loader) authority(key string, file File) {
	if file == "" || !l.ok(key) {
		return
	}
	l.files = append(l.files, string(file))
	if strings.HasSuffix(key, ".cert_file") && l.secretMissing(key, file) {
		return
	}
	if _, _, _, err := authorities(file); err != nil {
		l.errorf(key, "%q %s", file, err)
		return
	}
	if !strings.HasSuffix(key, ".cert_file") {
		return
	}
	// A warning, as that of server.tls: only what the certificate is shown to refuses it.
	data, _, _ := readRegular(string(file))
	if all, _ := certificatesIn(data); len(all) > 0 && time.Now().After(all[0].NotAfter) {
		l.warnf(key, "the certificate is expired since %s, so it is refused", all[0].NotAfter.UTC().Format(certificateTime))
	}
}

// keyFile checks that a file may be one with a private key. The code that uses the key checks its content.
func (l *loader) keyFile(key string, file File) {
	if file == "" || !l.ok(key) {
		return
	}
	l.files = append(l.files, string(file))
	data, info, err := readRegular(string(file))
	switch {
	case l.secretMissing(key, file):
	case err != nil:
		l.errorf(key, "%q can't be read: %s", file, err)
	case !strings.Contains(string(data), "PRIVATE KEY-----"):
		l.errorf(key, "%q holds no PEM private key", file)
	case info.Mode().Perm()&0o004 != 0:
		l.warnf(key, "the secret file %q can be read by every user of the machine", file)
	}
}
