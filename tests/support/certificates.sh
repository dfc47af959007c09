#!/bin/sh
# certificates.sh FOLDER AUTHORITY NAME ALTERNATIVES: in FOLDER an authority of certificates, AUTHORITY.pem and AUTHORITY.key, unless
# it is there already, and a certificate of it, NAME.pem with its key NAME.key: of "DNS:espalier,IP:127.0.0.1", say.
set -eu
cd "$1"
new_key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.new"; mv "$1.new" "$1"; }
if [ ! -e "$2.pem" ]; then
  new_key "$2.key"
  openssl req -x509 -key "$2.key" -subj "/CN=$2" -days 2 -out "$2.pem"
fi
new_key "$3.key"
openssl req -new -key "$3.key" -subj "/CN=$3" -out "$3.csr"
echo "subjectAltName=$4" > "$3.ext"
openssl x509 -req -in "$3.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days 2 -extfile "$3.ext" -out "$3.pem.new" 2> "$3.log" ||
  { cat "$3.log" >&2; exit 1; }
mv "$3.pem.new" "$3.pem"
