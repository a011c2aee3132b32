// Command chaincode is the asset contract of the study, served to its peer over the network.
//
// The peer does not build or start it: it is a container of its own ("chaincode as an external
// service"), so that its container runtime is a factor like that of any other node.
//
// Environment: CHAINCODE_ID, the package identifier the peer knows it by, and
// CHAINCODE_SERVER_ADDRESS, host:port to listen on.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/hyperledger/fabric-chaincode-go/shim"
	"github.com/hyperledger/fabric-protos-go/peer"
)

// asset is what the ledger holds; the field names are those of Fabric's sample contract.
type asset struct {
	ID             string
	Color          string
	Size           int
	Owner          string
	AppraisedValue int
}

// contract implements shim.Chaincode.
type contract struct{}

// Init has nothing to prepare: the ledger starts empty.
func (contract) Init(shim.ChaincodeStubInterface) peer.Response {
	return shim.Success(nil)
}

// Invoke runs CreateAsset(id, color, size, owner, value) or ReadAsset(id).
func (contract) Invoke(stub shim.ChaincodeStubInterface) peer.Response {
	function, arguments := stub.GetFunctionAndParameters()
	switch function {
	case "CreateAsset":
		return answer(nil, create(stub, arguments))
	case "ReadAsset":
		return answer(read(stub, arguments))
	}
	return shim.Error(fmt.Sprintf("unknown function %q: expected CreateAsset or ReadAsset", function))
}

func create(stub shim.ChaincodeStubInterface, arguments []string) error {
	if len(arguments) != 5 {
		return fmt.Errorf("CreateAsset: expected id, color, size, owner and value, found %d arguments", len(arguments))
	}
	size, err := strconv.Atoi(arguments[2])
	if err != nil {
		return fmt.Errorf("CreateAsset: size: %w", err)
	}
	value, err := strconv.Atoi(arguments[4])
	if err != nil {
		return fmt.Errorf("CreateAsset: value: %w", err)
	}
	state, err := json.Marshal(asset{arguments[0], arguments[1], size, arguments[3], value})
	if err != nil {
		return err
	}
	return stub.PutState(arguments[0], state)
}

func read(stub shim.ChaincodeStubInterface, arguments []string) ([]byte, error) {
	if len(arguments) != 1 {
		return nil, fmt.Errorf("ReadAsset: expected id, found %d arguments", len(arguments))
	}
	state, err := stub.GetState(arguments[0])
	if err == nil && state == nil {
		err = fmt.Errorf("ReadAsset: no asset %q", arguments[0])
	}
	return state, err
}

func answer(payload []byte, err error) peer.Response {
	if err != nil {
		return shim.Error(err.Error())
	}
	return shim.Success(payload)
}

func main() {
	server := &shim.ChaincodeServer{
		CCID:     os.Getenv("CHAINCODE_ID"),
		Address:  os.Getenv("CHAINCODE_SERVER_ADDRESS"),
		CC:       contract{},
		TLSProps: shim.TLSProperties{Disabled: true},
	}
	if err := server.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
