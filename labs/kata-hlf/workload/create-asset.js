/**
 * Caliper workload: every transaction creates an asset of its own.
 *
 * The chaincode's endorsement policy asks both organisations, and the submitting organisation
 * alternates, so that both peers serve as gateway. Caliper's report has sums and a mean only;
 * each worker therefore also writes every transaction to a file when its round ends, after the
 * last answer, so that writing costs the measurement nothing.
 *
 * Arguments (from the benchmark configuration):
 *   contract        chaincode name
 *   organizations   MSP identifiers that submit in turn
 *   timeoutSeconds  after which a transaction counts as failed
 *   directory       where transactions-<round>-<worker>.csv is written: id, created_ms and
 *                   finished_ms (Unix time), status (success or failed)
 */
'use strict';

const fs = require('fs');
const path = require('path');
const { WorkloadModuleBase } = require('@hyperledger/caliper-core');

class CreateAsset extends WorkloadModuleBase {
    async initializeWorkloadModule(workerIndex, totalWorkers, roundIndex, roundArguments, sutAdapter, sutContext) {
        await super.initializeWorkloadModule(workerIndex, totalWorkers, roundIndex, roundArguments, sutAdapter, sutContext);
        this.file = path.join(roundArguments.directory, `transactions-${roundIndex}-${workerIndex}.csv`);
        // A ledger serves many runs, and an id that exists already would be another kind of write.
        this.prefix = `${Date.now().toString(36)}.${roundIndex}.${workerIndex}.`;
        this.count = 0;
        this.rows = ['id,created_ms,finished_ms,status'];
    }

    async submitTransaction() {
        const { contract, organizations, timeoutSeconds } = this.roundArguments;
        const number = this.count++;
        const id = this.prefix + number;
        const result = await this.sutAdapter.sendRequests({
            contractId: contract,
            contractFunction: 'CreateAsset',
            contractArguments: [id, 'blue', '20', 'alice', '500'],
            invokerMspId: organizations[(number + this.workerIndex) % organizations.length],
            timeout: timeoutSeconds,
            readOnly: false,
        });
        this.rows.push([id, result.GetTimeCreate(), result.GetTimeFinal(), result.GetStatus()].join(','));
    }

    async cleanupWorkloadModule() {
        fs.writeFileSync(this.file, this.rows.join('\n') + '\n');
    }
}

module.exports.createWorkloadModule = () => new CreateAsset();
