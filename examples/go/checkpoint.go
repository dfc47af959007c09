package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

const (
	headBytesMax  = 100_000_000
	formatVersion = "1"
)

// array is one of a state's. The types that this worker needs are F64, I64, U64 and U8.
type array struct {
	dtype string
	shape []int64
	bytes []byte
}

// state is all that the next steps depend on, by name.
type state map[string]array

// arrayOf copies numbers, of a type whose size is fixed.
func arrayOf(dtype string, shape []int64, numbers any) array {
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, numbers); err != nil {
		panic(err)
	}
	return array{dtype, shape, out.Bytes()}
}

// into reads an array into numbers of the type and count that it should have.
func (s state) into(name, dtype string, numbers any) error {
	from, found := s[name]
	if !found || from.dtype != dtype || len(from.bytes) != binary.Size(numbers) {
		return checkpointFailure("the state has no '%s' of the expected type and length", name)
	}
	return binary.Read(bytes.NewReader(from.bytes), binary.LittleEndian, numbers)
}

func (s state) names() []string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// sha256 names the state: trainings that are equal have equal ones.
func (s state) sha256() string {
	digest := sha256.New()
	for _, name := range s.names() {
		lengths := strings.Trim(strings.ReplaceAll(fmt.Sprint(s[name].shape), " ", ","), "[]")
		fmt.Fprintf(digest, "%s\x00%s\x00%s\x00", name, s[name].dtype, lengths)
		digest.Write(s[name].bytes)
	}
	return hex.EncodeToString(digest.Sum(nil))
}

func headSHA256(identity, stateSHA256 string) string {
	digest := sha256.Sum256([]byte(identity + "\x00" + stateSHA256))
	return hex.EncodeToString(digest[:])
}

// entry describes an array in a file's head.
type entry struct {
	Dtype   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// writeCheckpoint writes a safetensors file that is whole or not there, and gives its state's digest and its length.
func writeCheckpoint(path, identity string, s state) (digest string, size int64, err error) {
	digest = s.sha256()
	head := object{"__metadata__": map[string]string{
		"espalier.version":      formatVersion,
		"espalier.identity":     identity,
		"espalier.state_sha256": digest,
		"espalier.head_sha256":  headSHA256(identity, digest),
	}}
	var arrays bytes.Buffer
	for _, name := range s.names() {
		begin := int64(arrays.Len())
		arrays.Write(s[name].bytes)
		head[name] = entry{s[name].dtype, s[name].shape, [2]int64{begin, int64(arrays.Len())}}
	}
	text, err := json.Marshal(head) // sorts by name
	if err != nil {
		return "", 0, err
	}
	text = append(text, strings.Repeat(" ", (8-len(text)%8)%8)...)
	whole := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	whole = append(whole, arrays.Bytes()...)
	if err := writeSynced(path+".tmp", whole); err != nil {
		os.Remove(path + ".tmp")
		return "", 0, err
	}
	return digest, int64(len(whole)), os.Rename(path+".tmp", path)
}

func writeSynced(path string, content []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.Sync()
}

// readCheckpoint gives the state in a file, once all that the file says of itself has turned out to be true.
func readCheckpoint(path string) (state, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, checkpointFailure("%v", err)
	}
	damaged := func(why string) (state, error) { return nil, checkpointFailure("%s is damaged: %s", path, why) }
	if len(content) < 8 {
		return damaged("it is too short")
	}
	length := binary.LittleEndian.Uint64(content)
	if length > headBytesMax || length > uint64(len(content)-8) {
		return damaged("it is cut, or no checkpoint")
	}
	var head map[string]json.RawMessage
	var metadata map[string]string
	if json.Unmarshal(content[8:8+length], &head) != nil || json.Unmarshal(head["__metadata__"], &metadata) != nil {
		return damaged("its head is none of a checkpoint")
	}
	delete(head, "__metadata__")
	if metadata["espalier.version"] != formatVersion {
		return nil, checkpointFailure("%s is of another version", path)
	}
	stateDigest := metadata["espalier.state_sha256"]
	if metadata["espalier.head_sha256"] != headSHA256(metadata["espalier.identity"], stateDigest) {
		return damaged("its head's digest does not match")
	}
	read, err := readArrays(head, content[8+length:])
	if err != nil {
		return damaged(err.Error())
	}
	if read.sha256() != stateDigest {
		return damaged("its state's digest does not match")
	}
	return read, nil
}

// readArrays takes the arrays from the bytes behind the head: in the order of names, without gaps. That lengths fit shapes is
// seen by who reads an array's numbers.
func readArrays(head map[string]json.RawMessage, content []byte) (state, error) {
	read := state{}
	for name := range head {
		read[name] = array{}
	}
	rest := bytes.NewReader(content)
	for _, name := range read.names() {
		var described entry
		at := int64(len(content) - rest.Len())
		if json.Unmarshal(head[name], &described) != nil || described.Offsets[0] != at ||
			described.Offsets[1] < at || described.Offsets[1] > int64(len(content)) {
			return nil, fmt.Errorf("what its head says of '%s' cannot be", name)
		}
		taken := make([]byte, described.Offsets[1]-at)
		if _, err := io.ReadFull(rest, taken); err != nil {
			return nil, err
		}
		read[name] = array{described.Dtype, described.Shape, taken}
	}
	if rest.Len() > 0 {
		return nil, fmt.Errorf("%d bytes belong to no array", rest.Len())
	}
	return read, nil
}
