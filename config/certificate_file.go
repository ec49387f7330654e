package config

import "strings"

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
