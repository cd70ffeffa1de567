# What Run.analysis is, as tools/docs writes it from what the code declares.
from ._tables import Record

class Analysis(Record):
    class Tacho(Record):
        version: str
    class Verdict(Record):
        class Straggler(Record):
            name: str
            path: str
            sign: str
            ns: int
            median_of_others_ns: int  # may be absent
            waiting_share: float  # may be absent
            waiting_ranks: int  # may be absent
            cause: str  # may be absent
            late_a_step_ns: int  # may be absent
        text: str
        caveat: str  # may be absent
        busy_share: float  # may be absent
        busy_is_at_least: bool  # may be absent
        exposed_comm_share: float  # may be absent
        idle_cause: str  # may be absent
        idle_cause_share: float  # may be absent
        idle_cause_is_at_least: bool  # may be absent
        category: str  # may be absent
        category_share: float  # may be absent
        straggler: Straggler  # may be absent
    class Findings(Record):
        class Where(Record):
            path: str
            name: str  # may be absent
            cost_ns: int
            device: str  # may be absent
            start_ns: int  # may be absent
            dur_ns: int  # may be absent
            host: str  # may be absent
        id: str
        cost_ns: int  # may be absent
        share: float  # may be absent
        of: str  # may be absent
        of_ns: int  # may be absent
        confidence: str
        because: str  # may be absent
        where: list[Where]
        request: str  # may be absent
        command: str
        text: str
    class Traces(Record):
        class Identity(Record):
            name: str
            worker: str  # may be absent
            data_parallel: int  # may be absent
            pipeline: int  # may be absent
            tensor: int  # may be absent
            stage: str  # may be absent
        class Span(Record):
            first_ns: int
            last_ns: int
        class Scope(Record):
            start_ns: int  # may be absent
            end_ns: int  # may be absent
            device: str  # may be absent
        class Events(Record):
            total: int
            by_phase: dict[str, int]
            by_category: dict[str, int]
        class Notes(Record):
            id: str
            severity: str
            count: int
            where: str  # may be absent
            text: str
            remedy: str
        class Integrity(Record):
            class Lost(Record):
                class Apis(Record):
                    name: str
                    calls: int
                    lost: int
                calls: int
                partial_graphs: int
                gpu_events: int
                pattern: str  # may be absent
                one_in: int  # may be absent
                first_ns: int  # may be absent
                in_doubt_ns: int  # may be absent
                apis: list[Apis]
            class Clocks(Record):
                device: str
                state: str
                launched: int
                before_launch: int
                waited: int
                after_wait: int
                least_ns: int  # may be absent
                most_ns: int  # may be absent
                least_early_ns: int  # may be absent
                least_late_ns: int  # may be absent
            class Order(Record):
                compared: int
                out_of_order: int
                stacked: int
            class Recorder(Record):
                began_ns: int  # may be absent
                ranges_before: int  # may be absent
                stopped_ns: int  # may be absent
                ranges_after: int  # may be absent
                range: str
            calls: int
            captured: int
            failed: int
            cut_off: int
            lost: Lost
            clocks: list[Clocks]
            order: Order
            recorder: Recorder  # may be absent
        class Facts(Record):
            class Devices(Record):
                id: str
                name: str  # may be absent
                total_memory_bytes: int  # may be absent
                num_sms: int  # may be absent
                compute_capability: str  # may be absent
            role: str
            producer: str  # may be absent
            stage: str  # may be absent
            backend: str  # may be absent
            process_groups: int  # may be absent
            nccl_version: str  # may be absent
            cuda_runtime_version: str  # may be absent
            cuda_driver_version: str  # may be absent
            python_stacks: bool  # may be absent
            process_names: list[str]
            pids: list[int]
            options: list[str]
            cannot_tell: list[str]
            producer_log: list[str]
            devices: list[Devices]
        class Devices(Record):
            class Gaps(Record):
                count: int
                over_1us: int
                over_10us: int
                over_100us: int
                over_1ms: int
                largest_ns: int
            class Overlaps(Record):
                kinds: list[str]
                ns: int
            class Concurrency(Record):
                running: int
                or_more: bool  # may be absent
                ns: int
            class Streams(Record):
                class Categories(Record):
                    category: str
                    count: int
                    total_ns: int
                stream: str
                events: int
                sum_ns: int
                busy_ns: int
                overlaps: int
                compute_ns: int
                communication_ns: int
                copy_ns: int
                memset_ns: int
                categories: list[Categories]
            device: str
            on_host: bool  # may be absent
            whole: bool  # may be absent
            gpu_events: int
            window_start_ns: int
            window_ns: int
            busy_ns: int
            idle_ns: int  # may be absent
            compute_ns: int
            exposed_comm_ns: int  # may be absent
            exposed_copy_ns: int  # may be absent
            kernel_sum_ns: int
            kernel_busy_ns: int
            comm_busy_ns: int
            copy_busy_ns: int
            gaps: Gaps  # may be absent
            overlaps: list[Overlaps]
            concurrency: list[Concurrency]
            streams: list[Streams]
        class Kernels(Record):
            name: str
            short_name: str
            category: str
            device: str
            count: int
            total_ns: int
            min_ns: int
            max_ns: int
            p50_ns: int
            p90_ns: int
            p99_ns: int
        class Categories(Record):
            category: str
            count: int
            total_ns: int
        class Classifier(Record):
            coverage: float
        class Copies(Record):
            kind: str
            count: int
            total_ns: int
            bytes: int  # may be absent
            gigabytes_per_second: float  # may be absent
            pageable: int
        class Memsets(Record):
            count: int
            total_ns: int
            bytes: int  # may be absent
        class Launches(Record):
            class Delay(Record):
                count: int
                total_ns: int
                min_ns: int
                max_ns: int
                p50_ns: int
                p90_ns: int
                p99_ns: int
            class GraphCalls(Record):
                count: int
                total_ns: int
                min_ns: int
                max_ns: int
                p50_ns: int
                p90_ns: int
                p99_ns: int
                under_1ms: int
                from_1_to_5ms: int
                over_5ms: int
            class Graphs(Record):
                start_ns: int
                dur_ns: int
                gpu_events: int
                work_start_ns: int  # may be absent
                work_ns: int  # may be absent
            class Queues(Record):
                device: str
                stream: str
                max: int
                mean: float
            class Apis(Record):
                name: str
                count: int
                total_ns: int
                min_ns: int
                max_ns: int
                p50_ns: int
                p90_ns: int
                p99_ns: int
            class OtherApis(Record):
                name: str
                count: int
                total_ns: int
                min_ns: int
                max_ns: int
                p50_ns: int
                p90_ns: int
                p99_ns: int
            class Overheads(Record):
                name: str
                owner: str  # may be absent
                count: int
                total_ns: int
            gpu_events: int
            with_launch: int
            without_launch: int
            without_correlation: int
            graph_launches: int
            graph_gpu_events: int
            max_gpu_events_per_launch: int
            shorter_than_launch: int
            delay: Delay  # may be absent
            graph_calls: GraphCalls  # may be absent
            graphs: list[Graphs]
            queues: list[Queues]
            apis: list[Apis]
            other_apis: list[OtherApis]
            launch_calls: int  # may be absent
            launch_calls_ns: int  # may be absent
            profiler_calls: int  # may be absent
            profiler_ns: int  # may be absent
            overheads: list[Overheads]  # may be absent
        class Ops(Record):
            name: str
            shapes: str  # may be absent
            is_annotation: bool  # may be absent
            count: int
            cpu_total_ns: int
            cpu_self_ns: int
            device_total_ns: int
            device_self_ns: int
            flops: int  # may be absent
            cpu_memory_total_bytes: int  # may be absent
            cpu_memory_self_bytes: int  # may be absent
            device_memory_total_bytes: int  # may be absent
            device_memory_self_bytes: int  # may be absent
            cpu_outermost_ns: int
            device_outermost_ns: int
        class OpsByShape(Record):
            name: str
            shapes: str  # may be absent
            is_annotation: bool  # may be absent
            count: int
            cpu_total_ns: int
            cpu_self_ns: int
            device_total_ns: int
            device_self_ns: int
            flops: int  # may be absent
            cpu_memory_total_bytes: int  # may be absent
            cpu_memory_self_bytes: int  # may be absent
            device_memory_total_bytes: int  # may be absent
            device_memory_self_bytes: int  # may be absent
            cpu_outermost_ns: int
            device_outermost_ns: int
        class KeyAverages(Record):
            name: str
            shapes: str  # may be absent
            is_annotation: bool  # may be absent
            count: int
            cpu_total_ns: int
            cpu_self_ns: int
            device_total_ns: int
            device_self_ns: int
            flops: int  # may be absent
            cpu_memory_total_bytes: int  # may be absent
            cpu_memory_self_bytes: int  # may be absent
            device_memory_total_bytes: int  # may be absent
            device_memory_self_bytes: int  # may be absent
        class KeyAveragesByShape(Record):
            name: str
            shapes: str  # may be absent
            is_annotation: bool  # may be absent
            count: int
            cpu_total_ns: int
            cpu_self_ns: int
            device_total_ns: int
            device_self_ns: int
            flops: int  # may be absent
            cpu_memory_total_bytes: int  # may be absent
            cpu_memory_self_bytes: int  # may be absent
            device_memory_total_bytes: int  # may be absent
            device_memory_self_bytes: int  # may be absent
        class Memory(Record):
            class Devices(Record):
                class Peak(Record):
                    class Operators(Record):
                        name: str  # may be absent
                        inside: str  # may be absent
                        blocks: int
                        bytes: int
                    at_ns: int
                    allocated_bytes: int
                    reserved_bytes: int  # may be absent
                    before_bytes: int  # may be absent
                    untold_bytes: int  # may be absent
                    operators: list[Operators]  # may be absent
                class ReservedPeak(Record):
                    at_ns: int
                    bytes: int
                class Growth(Record):
                    end_bytes: int
                    most_bytes: int
                    most_at_ns: int
                class Series(Record):
                    start_ns: int
                    step_ns: int
                    allocated_bytes: list[int]  # may be absent
                    reserved_bytes: list[int]  # may be absent
                    grown_bytes: list[int]  # may be absent
                device: str
                allocations: int
                frees: int
                start_allocated_bytes: int  # may be absent
                end_allocated_bytes: int  # may be absent
                start_reserved_bytes: int  # may be absent
                end_reserved_bytes: int  # may be absent
                peak: Peak  # may be absent
                reserved_peak: ReservedPeak  # may be absent
                growth: Growth  # may be absent
                series: Series  # may be absent
            damaged: int  # may be absent
            devices: list[Devices]
        class Steps(Record):
            class List(Record):
                phase: str
                start_ns: int
                dur_ns: int
                period_ns: int  # may be absent
                cut: bool  # may be absent
                lost_work: bool  # may be absent
                device_span_ns: int  # may be absent
                device_busy_ns: int  # may be absent
                context_requests: int  # may be absent
                context_tokens: int  # may be absent
                generation_requests: int  # may be absent
                generation_tokens: int  # may be absent
            method: str
            count: int
            by_phase: dict[str, int]
            context_tokens: int  # may be absent
            generation_tokens: int  # may be absent
            list: list[List]
        class StepParts(Record):
            class Rows(Record):
                step: int
                device: int
                start_ns: int
                dur_ns: int
                ns: list[int]
            class Batches(Record):
                class Kernels(Record):
                    kernel: int
                    calls: int
                    total_ns: int
                    deviation_ns: int
                    place: float
                phase: str
                most: int
                steps: int
                kernels: list[Kernels]
            parts: list[str]
            rows: list[Rows]
            batches: list[Batches]
        class Graphs(Record):
            class DecodePadding(Record):
                padded_ns: int
                uncompared: int
                device_ns: int
            class EagerSteps(Record):
                class List(Record):
                    index: int
                count: int
                of: int
                list: list[List]
            class List(Record):
                class ByNode(Record):
                    name: int
                    stream: str
                    layer: int  # may be absent
                    block: str  # may be absent
                    count: int
                    total_ns: int
                    deviation_ns: int
                    gap_ns: int
                id: str  # may be absent
                device: str
                place: int  # may be absent
                phase: str  # may be absent
                nodes: int
                replays: int
                partial: int
                batch: int  # may be absent
                least_tokens: int  # may be absent
                most_tokens: int  # may be absent
                device_ns: int
                min_ns: int
                max_ns: int
                deviation_ns: int
                span_ns: int
                work_ns: int
                unplaced: int  # may be absent
                unplaced_ns: int  # may be absent
                token_replays: int  # may be absent
                padded_replays: int  # may be absent
                padding_tokens: int  # may be absent
                padded_ns: int  # may be absent
                by_node: list[ByNode]
            state: str
            by_id: bool
            launches: int
            without_work: int
            unknown: int
            batch_tokens: int  # may be absent
            padding_tokens: int  # may be absent
            decode_padding: DecodePadding  # may be absent
            eager_steps: EagerSteps  # may be absent
            names: list[str]
            list: list[List]
        class Layers(Record):
            class Phases(Record):
                class List(Record):
                    class Blocks(Record):
                        id: str
                        device_ns: int
                        gap_ns: int
                        count: int
                    index: int
                    kind: str
                    device_ns: int
                    gap_ns: int
                    blocks: list[Blocks]
                class Outside(Record):
                    id: str
                    device_ns: int
                    gap_ns: int
                    count: int
                class Batches(Record):
                    class Blocks(Record):
                        id: str
                        device_ns: int
                        device_deviation_ns: int
                        gap_ns: int
                        gap_deviation_ns: int
                        overlap_ns: int
                        overlap_deviation_ns: int
                        layers_ns: list[int]
                        layers_deviation_ns: list[int]
                    phase: str
                    most: int
                    steps: int
                    span_ns: int
                    span_deviation_ns: int
                    device_ns: int
                    device_deviation_ns: int
                    gap_ns: int
                    gap_deviation_ns: int
                    overlap_ns: int
                    overlap_deviation_ns: int
                    work_ns: int
                    work_deviation_ns: int
                    blocks: list[Blocks]
                phase: str
                steps: int
                list: list[List]
                outside: list[Outside]
                batches: list[Batches]  # may be absent
            state: str
            count: int
            as_configured: bool  # may be absent
            module_same_ns: int  # may be absent
            module_other_ns: int  # may be absent
            steps: int
            left_out: int
            unknown: int
            device_ns: int
            in_steps_ns: int
            phases: list[Phases]
        class Opportunities(Record):
            kind: str
            phase: str
            layers: int
            steps: int
            count: int
            most_ns: int
            share: float
            kernels: list[str]  # may be absent
            gap_ns: int  # may be absent
            exposed_ns: int  # may be absent
            movable_ns: int  # may be absent
        class Speculation(Record):
            drafts: str
            steps: int
            requests: int
            tokens: int  # may be absent
            verify_ns: int
            draft_ns: int
            plain_steps: int
            compared_steps: int
            compared_ns: int
            plain_ns: int
            break_even_tokens: float  # may be absent
            break_even_share: float  # may be absent
            accepted_from: str  # may be absent
            accepted_tokens: float  # may be absent
            accepted_share: float  # may be absent
            token_ns: float  # may be absent
        class Roofline(Record):
            class Peak(Record):
                flops_16_bit: float
                flops_8_bit: float
                flops_4_bit: float
                memory_bytes: float
                link_bytes: float
            class Model(Record):
                type: str
                layers: int
                stages: int  # may be absent
                tensor_ranks: int
            class Phases(Record):
                phase: str
                steps: int
                flops: float
                bytes: float
                link_bytes: float
                ns: int
                roof_ns: int
                mfu: float
                mbu: float
            class Blocks(Record):
                phase: str
                id: str
                steps: int
                flops: float
                bytes: float
                link_bytes: float
                ns: int
                roof_ns: int
                mfu: float
                mbu: float
            class Missing(Record):
                id: str
            class Refused(Record):
                phase: str
                id: str
                why: str
            gpu: str
            peak: Peak
            model: Model
            phases: list[Phases]
            blocks: list[Blocks]
            missing: list[Missing]
            format_kernel: str  # may be absent
            unknown_format: str  # may be absent
            refused: list[Refused]  # may be absent
        class Gemms(Record):
            op: str
            type: str
            batch: int
            m: int
            n: int
            k: int
            count: int
            device_ns: int
            flops: float
            bytes: float
            roof_ns: int  # may be absent
            mfu: float  # may be absent
            mbu: float  # may be absent
        class Sources(Record):
            class Rows(Record):
                class Sites(Record):
                    frame: str
                    modules: list[str]
                kernel: str
                block: str  # may be absent
                count: int
                device_ns: int
                gap_ns: int
                evidence: str
                sites: list[Sites]
                more_sites: int  # may be absent
            state: str
            map: str  # may be absent
            device_ns: int
            one_ns: int
            several_ns: int
            by_category_ns: int
            rows: list[Rows]
        class Idle(Record):
            class Causes(Record):
                id: str
                ns: int
                count: int
                call: str  # may be absent
            class Gaps(Record):
                device: str
                start_ns: int
                dur_ns: int
                cause: str
                before: str  # may be absent
                after: str  # may be absent
                host: str  # may be absent
                host_is_annotation: bool  # may be absent
                host_track: str  # may be absent
            window_ns: int
            busy_ns: int
            may_be_busy_ns: int  # may be absent
            requests: str  # may be absent
            requests_uncertainty_ns: int  # may be absent
            causes: list[Causes]
            gaps: list[Gaps]
        path: str
        format: str
        bytes: int
        first_of_file: bool  # may be absent
        json_bytes: int
        rank: int  # may be absent
        world_size: int  # may be absent
        identity: Identity  # may be absent
        engine: str  # may be absent
        engine_version: str  # may be absent
        base_time_ns: int  # may be absent
        trace_id: str  # may be absent
        span: Span  # may be absent
        scope: Scope  # may be absent
        events: Events
        notes: list[Notes]
        integrity: Integrity  # may be absent
        facts: Facts
        devices: list[Devices]
        kernels: list[Kernels]
        categories: list[Categories]
        classifier: Classifier  # may be absent
        kernels_shorter_than_10us: int  # may be absent
        copies: list[Copies]
        memsets: list[Memsets]
        launches: Launches
        ops: list[Ops]
        ops_by_shape: list[OpsByShape]  # may be absent
        key_averages: list[KeyAverages]  # may be absent
        key_averages_by_shape: list[KeyAveragesByShape]  # may be absent
        memory: Memory  # may be absent
        steps: Steps  # may be absent
        step_parts: StepParts  # may be absent
        graphs: Graphs  # may be absent
        layers: Layers  # may be absent
        opportunities: list[Opportunities]  # may be absent
        speculation: Speculation  # may be absent
        roofline: Roofline  # may be absent
        gemms: list[Gemms]  # may be absent
        sources: Sources  # may be absent
        idle: Idle  # may be absent
        digest: str  # may be absent
    class Together(Record):
        class Devices(Record):
            class Gaps(Record):
                count: int
                over_1us: int
                over_10us: int
                over_100us: int
                over_1ms: int
                largest_ns: int
            class Overlaps(Record):
                kinds: list[str]
                ns: int
            class Concurrency(Record):
                running: int
                or_more: bool  # may be absent
                ns: int
            class Streams(Record):
                class Categories(Record):
                    category: str
                    count: int
                    total_ns: int
                stream: str
                events: int
                sum_ns: int
                busy_ns: int
                overlaps: int
                compute_ns: int
                communication_ns: int
                copy_ns: int
                memset_ns: int
                categories: list[Categories]
            device: str
            on_host: bool  # may be absent
            whole: bool  # may be absent
            gpu_events: int
            window_start_ns: int
            window_ns: int
            busy_ns: int
            idle_ns: int  # may be absent
            compute_ns: int
            exposed_comm_ns: int  # may be absent
            exposed_copy_ns: int  # may be absent
            kernel_sum_ns: int
            kernel_busy_ns: int
            comm_busy_ns: int
            copy_busy_ns: int
            gaps: Gaps  # may be absent
            overlaps: list[Overlaps]
            concurrency: list[Concurrency]
            streams: list[Streams]
        class Idle(Record):
            class Causes(Record):
                id: str
                ns: int
                count: int
                call: str  # may be absent
            class Gaps(Record):
                device: str
                start_ns: int
                dur_ns: int
                cause: str
                before: str  # may be absent
                after: str  # may be absent
                host: str  # may be absent
                host_is_annotation: bool  # may be absent
                host_track: str  # may be absent
            window_ns: int
            busy_ns: int
            may_be_busy_ns: int  # may be absent
            requests: str  # may be absent
            requests_uncertainty_ns: int  # may be absent
            causes: list[Causes]
            gaps: list[Gaps]
        paths: list[str]
        devices: list[Devices]
        idle: Idle  # may be absent
    class Ranks(Record):
        class MissingIn(Record):
            worker: str  # may be absent
            world_size: int
            engines: int
            ranks: list[int]
            count: int
        class Table(Record):
            class Identity(Record):
                name: str
                worker: str  # may be absent
                data_parallel: int  # may be absent
                pipeline: int  # may be absent
                tensor: int  # may be absent
                stage: str  # may be absent
            rank: int  # may be absent
            path: str
            identity: Identity  # may be absent
            whole: bool  # may be absent
            window_ns: int  # may be absent
            busy_ns: int  # may be absent
            idle_ns: int  # may be absent
            compute_ns: int  # may be absent
            exposed_comm_ns: int  # may be absent
            exposed_copy_ns: int  # may be absent
            comm_busy_ns: int  # may be absent
            kernel_sum_ns: int  # may be absent
            steps: int
            start_unix_ns: int  # may be absent
            recording: int
        class Blame(Record):
            class Table(Record):
                class CausedBy(Record):
                    id: str
                    ns: int
                rank: int  # may be absent
                path: str
                row: int
                collectives: int
                last: int
                transfer_ns: int
                suffered_ns: int
                caused_ns: int
                late_ns: int
                stands_out: bool
                caused_by: list[CausedBy]
            class Groups(Record):
                kind: str  # may be absent
                name: str  # may be absent
                collectives: int
                transfer_ns: int
                waiting_ns: int
                rows: list[int]
            class Sizes(Record):
                op: str
                group: str  # may be absent
                ranks: int
                bytes: int
                count: int
                transfer_ns: int
                transfer_sum_ns: int
                algbw_gigabytes_per_second: float
                busbw_gigabytes_per_second: float
            class Experts(Record):
                class Table(Record):
                    rank: int  # may be absent
                    path: str
                    row: int
                    layers: int
                    longest: int
                    others: int
                    gemms_ns: int
                    longer_ns: int
                    caused_ns: int
                    cost_a_step_ns: int  # may be absent
                    stands_out: bool
                absent: str  # may be absent
                layers: int  # may be absent
                exchanged: int  # may be absent
                steps: int  # may be absent
                slowest_ns: int  # may be absent
                above_mean_ns: int  # may be absent
                above_mean_a_step_ns: int  # may be absent
                imbalance: float  # may be absent
                waiting_ns: int  # may be absent
                table: list[Table]  # may be absent
            absent: str  # may be absent
            method: str  # may be absent
            transfer_ns: int  # may be absent
            waiting_ns: int  # may be absent
            collectives: int  # may be absent
            matched_share: float  # may be absent
            residual_ns: int  # may be absent
            collectives_of_class: dict[str, int]  # may be absent
            table: list[Table]  # may be absent
            groups: list[Groups]  # may be absent
            sizes: list[Sizes]  # may be absent
            sizes_left_out: int  # may be absent
            experts: Experts  # may be absent
        world_size: int  # may be absent
        present: list[int]
        missing: list[int]
        missing_count: int
        missing_in: list[MissingIn]
        with_trace: int
        in_all: int
        table: list[Table]
        busy_spread: float  # may be absent
        slowest: int  # may be absent
        slowest_compute_ns: int  # may be absent
        median_compute_of_others_ns: int  # may be absent
        blame: Blame  # may be absent
        warnings: list[str]
    class Requests(Record):
        class List(Record):
            id: str
            worker: str  # may be absent
            scenario: str  # may be absent
            whole: bool
            lacks: str  # may be absent
            prompt_tokens: int  # may be absent
            tokens: int
            ttft_ns: int  # may be absent
            e2e_ns: int
            parts: dict[str, int]
            outside_ns: int  # may be absent
            ttft_parts: dict[str, int]  # may be absent
            sure: bool  # may be absent
            trace: int  # may be absent
            first_step: int  # may be absent
            last_step: int  # may be absent
        class Bands(Record):
            to: float
            count: int
            tokens: float  # may be absent
            e2e_ns: int  # may be absent
            parts: dict[str, int]  # may be absent
        class Scenarios(Record):
            scenario: str
            count: int
            tokens: float  # may be absent
            e2e_ns: int  # may be absent
            parts: dict[str, int]  # may be absent
        class Slowest(Record):
            class Parts(Record):
                part: str
                more_ns: int
            more_ns: int
            tokens: float
            median_tokens: float
            parts: list[Parts]
        method: str  # may be absent
        join: str
        tied_share: float  # may be absent
        clock_error_ns: int  # may be absent
        list: list[List]
        bands: list[Bands]
        scenarios: list[Scenarios]
        slowest: Slowest  # may be absent
    schema: int
    tacho: Tacho
    verdict: Verdict
    findings: list[Findings]
    traces: list[Traces]
    together: list[Together]  # may be absent
    ranks: Ranks  # may be absent
    requests: Requests  # may be absent
    skipped: list[str]
    captures: list[str]  # may be absent
    failed: list[str]  # may be absent
    unproven: list[str]  # may be absent
