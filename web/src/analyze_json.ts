// What `tacho analyze --json` prints, as tools/docs writes it from what the code declares.

export interface AnalyzeJson {
  schema: number;
  tacho: {
    version: string;
  };
  verdict: {
    text: string;
    caveat?: string;
    busy_share?: number;
    busy_is_at_least?: boolean;
    exposed_comm_share?: number;
    idle_cause?: string;
    idle_cause_share?: number;
    idle_cause_is_at_least?: boolean;
    category?: string;
    category_share?: number;
    straggler?: {
      name: string;
      path: string;
      sign: string;
      ns: number;
      median_of_others_ns?: number;
      waiting_share?: number;
      waiting_ranks?: number;
      cause?: string;
      late_a_step_ns?: number;
    };
  };
  findings: {
    id: string;
    cost_ns?: number;
    share?: number;
    of?: string;
    of_ns?: number;
    confidence: string;
    because?: string;
    where: {
      path: string;
      name?: string;
      cost_ns: number;
      device?: string;
      start_ns?: number;
      dur_ns?: number;
      host?: string;
    }[];
    request?: string;
    command: string;
    text: string;
  }[];
  traces: {
    path: string;
    format: "kineto" | "nsys";
    bytes: number;
    first_of_file?: boolean;
    json_bytes: number;
    rank?: number;
    world_size?: number;
    identity?: {
      name: string;
      worker?: string;
      data_parallel?: number;
      pipeline?: number;
      tensor?: number;
      stage?: string;
    };
    engine?: string;
    engine_version?: string;
    base_time_ns?: number;
    trace_id?: string;
    span?: {
      first_ns: number;
      last_ns: number;
    };
    scope?: {
      start_ns?: number;
      end_ns?: number;
      device?: string;
    };
    events: {
      total: number;
      by_phase: Record<string, number>;
      by_category: Record<string, number>;
    };
    notes: {
      id: "truncated-json" | "truncated-gzip" | "corrupt-gzip" | "second-document" | "trailing-junk" | "read-failed" | "damaged-event" | "oversized-event" | "repaired-name" | "odd-number" | "bad-time" | "negative-duration" | "missing-duration" | "invalid-utf8" | "unmatched-begin-end" | "no-gpu-events" | "no-engine-step" | "device-rows-not-read" | "range-profiler" | "mixed-ranks" | "no-events" | "orphan-gpu-events" | "lost-gpu-work" | "lost-at-edge" | "cut-off-work" | "recorder-stopped" | "device-clock" | "impossible-order" | "times-refused" | "long-overlap" | "producer-warning" | "producer-lost-events" | "unsupported-driver" | "unfinished-span" | "many-categories" | "damaged-table" | "damaged-row" | "unknown-string" | "graph-as-one" | "unknown-schema";
      severity: "info" | "notice" | "data-loss";
      count: number;
      where?: string;
      text: string;
      remedy: string;
    }[];
    integrity?: {
      calls: number;
      captured: number;
      failed: number;
      cut_off: number;
      lost: {
        calls: number;
        partial_graphs: number;
        gpu_events: number;
        pattern?: "none" | "start" | "end" | "start-and-end" | "all-graphs" | "all-of-a-thread" | "all-but-one-in" | "in-a-row" | "spread";
        one_in?: number;
        first_ns?: number;
        in_doubt_ns?: number;
        apis: {
          name: string;
          calls: number;
          lost: number;
        }[];
      };
      clocks: {
        device: string;
        state: "right" | "off" | "drifts";
        launched: number;
        before_launch: number;
        waited: number;
        after_wait: number;
        least_ns?: number;
        most_ns?: number;
        least_early_ns?: number;
        least_late_ns?: number;
      }[];
      order: {
        compared: number;
        out_of_order: number;
        stacked: number;
      };
      recorder?: {
        began_ns?: number;
        ranges_before?: number;
        stopped_ns?: number;
        ranges_after?: number;
        range: string;
      };
    };
    facts: {
      role: "worker" | "frontend" | "merged" | "capture" | "foreign";
      producer?: string;
      stage?: string;
      backend?: string;
      process_groups?: number;
      nccl_version?: string;
      cuda_runtime_version?: string;
      cuda_driver_version?: string;
      python_stacks?: boolean;
      process_names: string[];
      pids: number[];
      options: string[];
      cannot_tell: string[];
      producer_log: string[];
      devices: {
        id: string;
        name?: string;
        total_memory_bytes?: number;
        num_sms?: number;
        compute_capability?: string;
      }[];
    };
    devices: {
      device: string;
      on_host?: boolean;
      whole?: boolean;
      gpu_events: number;
      window_start_ns: number;
      window_ns: number;
      busy_ns: number;
      idle_ns?: number;
      compute_ns: number;
      exposed_comm_ns?: number;
      exposed_copy_ns?: number;
      kernel_sum_ns: number;
      kernel_busy_ns: number;
      comm_busy_ns: number;
      copy_busy_ns: number;
      gaps?: {
        count: number;
        over_1us: number;
        over_10us: number;
        over_100us: number;
        over_1ms: number;
        largest_ns: number;
      };
      overlaps: {
        kinds: string[];
        ns: number;
      }[];
      concurrency: {
        running: number;
        or_more?: boolean;
        ns: number;
      }[];
      streams: {
        stream: string;
        events: number;
        sum_ns: number;
        busy_ns: number;
        overlaps: number;
        compute_ns: number;
        communication_ns: number;
        copy_ns: number;
        memset_ns: number;
        categories: {
          category: string;
          count: number;
          total_ns: number;
        }[];
      }[];
    }[];
    kernels: {
      name: string;
      short_name: string;
      category: string;
      device: string;
      count: number;
      total_ns: number;
      min_ns: number;
      max_ns: number;
      p50_ns: number;
      p90_ns: number;
      p99_ns: number;
    }[];
    categories: {
      category: string;
      count: number;
      total_ns: number;
    }[];
    classifier?: {
      coverage: number;
    };
    kernels_shorter_than_10us?: number;
    copies: {
      kind: string;
      count: number;
      total_ns: number;
      bytes?: number;
      gigabytes_per_second?: number;
      pageable: number;
    }[];
    memsets: {
      count: number;
      total_ns: number;
      bytes?: number;
    }[];
    launches: {
      gpu_events: number;
      with_launch: number;
      without_launch: number;
      without_correlation: number;
      graph_launches: number;
      graph_gpu_events: number;
      max_gpu_events_per_launch: number;
      shorter_than_launch: number;
      delay?: {
        count: number;
        total_ns: number;
        min_ns: number;
        max_ns: number;
        p50_ns: number;
        p90_ns: number;
        p99_ns: number;
      };
      graph_calls?: {
        count: number;
        total_ns: number;
        min_ns: number;
        max_ns: number;
        p50_ns: number;
        p90_ns: number;
        p99_ns: number;
        under_1ms: number;
        from_1_to_5ms: number;
        over_5ms: number;
      };
      graphs: {
        start_ns: number;
        dur_ns: number;
        gpu_events: number;
        work_start_ns?: number;
        work_ns?: number;
      }[];
      queues: {
        device: string;
        stream: string;
        max: number;
        mean: number;
      }[];
      apis: {
        name: string;
        count: number;
        total_ns: number;
        min_ns: number;
        max_ns: number;
        p50_ns: number;
        p90_ns: number;
        p99_ns: number;
      }[];
      other_apis: {
        name: string;
        count: number;
        total_ns: number;
        min_ns: number;
        max_ns: number;
        p50_ns: number;
        p90_ns: number;
        p99_ns: number;
      }[];
      launch_calls?: number;
      launch_calls_ns?: number;
      profiler_calls?: number;
      profiler_ns?: number;
      overheads?: {
        name: string;
        owner?: string;
        count: number;
        total_ns: number;
      }[];
    };
    ops: {
      name: string;
      shapes?: string;
      is_annotation?: boolean;
      count: number;
      cpu_total_ns: number;
      cpu_self_ns: number;
      device_total_ns: number;
      device_self_ns: number;
      flops?: number;
      cpu_memory_total_bytes?: number;
      cpu_memory_self_bytes?: number;
      device_memory_total_bytes?: number;
      device_memory_self_bytes?: number;
      cpu_outermost_ns: number;
      device_outermost_ns: number;
    }[];
    ops_by_shape?: {
      name: string;
      shapes?: string;
      is_annotation?: boolean;
      count: number;
      cpu_total_ns: number;
      cpu_self_ns: number;
      device_total_ns: number;
      device_self_ns: number;
      flops?: number;
      cpu_memory_total_bytes?: number;
      cpu_memory_self_bytes?: number;
      device_memory_total_bytes?: number;
      device_memory_self_bytes?: number;
      cpu_outermost_ns: number;
      device_outermost_ns: number;
    }[];
    key_averages?: {
      name: string;
      shapes?: string;
      is_annotation?: boolean;
      count: number;
      cpu_total_ns: number;
      cpu_self_ns: number;
      device_total_ns: number;
      device_self_ns: number;
      flops?: number;
      cpu_memory_total_bytes?: number;
      cpu_memory_self_bytes?: number;
      device_memory_total_bytes?: number;
      device_memory_self_bytes?: number;
    }[];
    key_averages_by_shape?: {
      name: string;
      shapes?: string;
      is_annotation?: boolean;
      count: number;
      cpu_total_ns: number;
      cpu_self_ns: number;
      device_total_ns: number;
      device_self_ns: number;
      flops?: number;
      cpu_memory_total_bytes?: number;
      cpu_memory_self_bytes?: number;
      device_memory_total_bytes?: number;
      device_memory_self_bytes?: number;
    }[];
    memory?: {
      damaged?: number;
      devices: {
        device: string;
        allocations: number;
        frees: number;
        start_allocated_bytes?: number;
        end_allocated_bytes?: number;
        start_reserved_bytes?: number;
        end_reserved_bytes?: number;
        peak?: {
          at_ns: number;
          allocated_bytes: number;
          reserved_bytes?: number;
          before_bytes?: number;
          untold_bytes?: number;
          operators?: {
            name?: string;
            inside?: string;
            blocks: number;
            bytes: number;
          }[];
        };
        reserved_peak?: {
          at_ns: number;
          bytes: number;
        };
        growth?: {
          end_bytes: number;
          most_bytes: number;
          most_at_ns: number;
        };
        series?: {
          start_ns: number;
          step_ns: number;
          allocated_bytes?: number[];
          reserved_bytes?: number[];
          grown_bytes?: number[];
        };
      }[];
    };
    steps?: {
      method: string;
      count: number;
      by_phase: Record<string, number>;
      context_tokens?: number;
      generation_tokens?: number;
      list: {
        phase: "prefill" | "decode" | "mixed" | "empty" | "other";
        start_ns: number;
        dur_ns: number;
        period_ns?: number;
        cut?: boolean;
        lost_work?: boolean;
        device_span_ns?: number;
        device_busy_ns?: number;
        context_requests?: number;
        context_tokens?: number;
        generation_requests?: number;
        generation_tokens?: number;
      }[];
    };
    step_parts?: {
      parts: string[];
      rows: {
        step: number;
        device: number;
        start_ns: number;
        dur_ns: number;
        ns: number[];
      }[];
      batches: {
        phase: "prefill" | "decode" | "mixed" | "empty" | "other";
        most: number;
        steps: number;
        kernels: {
          kernel: number;
          calls: number;
          total_ns: number;
          deviation_ns: number;
          place: number;
        }[];
      }[];
    };
    graphs?: {
      state: "found" | "no-launches" | "no-work" | "as-one" | "times-refused";
      by_id: boolean;
      launches: number;
      without_work: number;
      unknown: number;
      batch_tokens?: number;
      padding_tokens?: number;
      decode_padding?: {
        padded_ns: number;
        uncompared: number;
        device_ns: number;
      };
      eager_steps?: {
        count: number;
        of: number;
        list: {
          index: number;
        }[];
      };
      names: string[];
      list: {
        id?: string;
        device: string;
        place?: number;
        phase?: "prefill" | "decode" | "mixed" | "empty" | "other";
        nodes: number;
        replays: number;
        partial: number;
        batch?: number;
        least_tokens?: number;
        most_tokens?: number;
        device_ns: number;
        min_ns: number;
        max_ns: number;
        deviation_ns: number;
        span_ns: number;
        work_ns: number;
        unplaced?: number;
        unplaced_ns?: number;
        token_replays?: number;
        padded_replays?: number;
        padding_tokens?: number;
        padded_ns?: number;
        by_node: {
          name: number;
          stream: string;
          layer?: number;
          block?: "norm" | "qkv" | "rope-kv-write" | "attention" | "state-space" | "output-projection" | "all-reduce" | "mlp-up" | "activation" | "mlp-down" | "router" | "experts-up" | "experts-down" | "experts" | "shared-expert" | "dispatch" | "combine" | "other" | "input-preparation" | "embedding" | "final-norm" | "lm-head" | "sampling" | "draft";
          count: number;
          total_ns: number;
          deviation_ns: number;
          gap_ns: number;
        }[];
      }[];
    };
    layers?: {
      state: "found" | "no-steps" | "no-work" | "no-mixer" | "no-repetition" | "irregular" | "times-refused";
      count: number;
      as_configured?: boolean;
      module_same_ns?: number;
      module_other_ns?: number;
      steps: number;
      left_out: number;
      unknown: number;
      device_ns: number;
      in_steps_ns: number;
      phases: {
        phase: "prefill" | "decode" | "mixed" | "empty" | "other";
        steps: number;
        list: {
          index: number;
          kind: string;
          device_ns: number;
          gap_ns: number;
          blocks: {
            id: "norm" | "qkv" | "rope-kv-write" | "attention" | "state-space" | "output-projection" | "all-reduce" | "mlp-up" | "activation" | "mlp-down" | "router" | "experts-up" | "experts-down" | "experts" | "shared-expert" | "dispatch" | "combine" | "other" | "input-preparation" | "embedding" | "final-norm" | "lm-head" | "sampling" | "draft";
            device_ns: number;
            gap_ns: number;
            count: number;
          }[];
        }[];
        outside: {
          id: "norm" | "qkv" | "rope-kv-write" | "attention" | "state-space" | "output-projection" | "all-reduce" | "mlp-up" | "activation" | "mlp-down" | "router" | "experts-up" | "experts-down" | "experts" | "shared-expert" | "dispatch" | "combine" | "other" | "input-preparation" | "embedding" | "final-norm" | "lm-head" | "sampling" | "draft";
          device_ns: number;
          gap_ns: number;
          count: number;
        }[];
        batches?: {
          phase: "prefill" | "decode" | "mixed" | "empty" | "other";
          most: number;
          steps: number;
          span_ns: number;
          span_deviation_ns: number;
          device_ns: number;
          device_deviation_ns: number;
          gap_ns: number;
          gap_deviation_ns: number;
          overlap_ns: number;
          overlap_deviation_ns: number;
          work_ns: number;
          work_deviation_ns: number;
          blocks: {
            id: "norm" | "qkv" | "rope-kv-write" | "attention" | "state-space" | "output-projection" | "all-reduce" | "mlp-up" | "activation" | "mlp-down" | "router" | "experts-up" | "experts-down" | "experts" | "shared-expert" | "dispatch" | "combine" | "other" | "input-preparation" | "embedding" | "final-norm" | "lm-head" | "sampling" | "draft";
            device_ns: number;
            device_deviation_ns: number;
            gap_ns: number;
            gap_deviation_ns: number;
            overlap_ns: number;
            overlap_deviation_ns: number;
            layers_ns: number[];
            layers_deviation_ns: number[];
          }[];
        }[];
      }[];
    };
    opportunities?: {
      kind: "fuse" | "overlap";
      phase: "prefill" | "decode" | "mixed" | "empty" | "other";
      layers: number;
      steps: number;
      count: number;
      most_ns: number;
      share: number;
      kernels?: string[];
      gap_ns?: number;
      exposed_ns?: number;
      movable_ns?: number;
    }[];
    speculation?: {
      drafts: "none" | "annotated" | "order";
      steps: number;
      requests: number;
      tokens?: number;
      verify_ns: number;
      draft_ns: number;
      plain_steps: number;
      compared_steps: number;
      compared_ns: number;
      plain_ns: number;
      break_even_tokens?: number;
      break_even_share?: number;
      accepted_from?: "no-recording" | "no-metrics" | "counters" | "gauge";
      accepted_tokens?: number;
      accepted_share?: number;
      token_ns?: number;
    };
    roofline?: {
      gpu: string;
      peak: {
        flops_16_bit: number;
        flops_8_bit: number;
        flops_4_bit: number;
        memory_bytes: number;
        link_bytes: number;
      };
      model: {
        type: string;
        layers: number;
        tensor_ranks: number;
      };
      phases: {
        phase: "prefill" | "decode" | "mixed" | "empty" | "other";
        steps: number;
        flops: number;
        bytes: number;
        link_bytes: number;
        ns: number;
        roof_ns: number;
        mfu: number;
        mbu: number;
      }[];
      blocks: {
        phase: "prefill" | "decode" | "mixed" | "empty" | "other";
        id: "norm" | "qkv" | "rope-kv-write" | "attention" | "state-space" | "output-projection" | "all-reduce" | "mlp-up" | "activation" | "mlp-down" | "router" | "experts-up" | "experts-down" | "experts" | "shared-expert" | "dispatch" | "combine" | "other" | "input-preparation" | "embedding" | "final-norm" | "lm-head" | "sampling" | "draft";
        steps: number;
        flops: number;
        bytes: number;
        link_bytes: number;
        ns: number;
        roof_ns: number;
        mfu: number;
        mbu: number;
      }[];
      missing: {
        id: "model" | "gpu" | "ranks" | "number-format" | "steps" | "one-device" | "tokens" | "lengths" | "layers" | "same-model" | "fit" | "routed-tokens";
      }[];
    };
    gemms?: {
      op: string;
      type: string;
      batch: number;
      m: number;
      n: number;
      k: number;
      count: number;
      device_ns: number;
      flops: number;
      bytes: number;
      roof_ns?: number;
      mfu?: number;
      mbu?: number;
    }[];
    sources?: {
      state: "not-asked" | "found" | "no-frames" | "no-match";
      map?: string;
      device_ns: number;
      one_ns: number;
      several_ns: number;
      by_category_ns: number;
      rows: {
        kernel: string;
        block?: "norm" | "qkv" | "rope-kv-write" | "attention" | "state-space" | "output-projection" | "all-reduce" | "mlp-up" | "activation" | "mlp-down" | "router" | "experts-up" | "experts-down" | "experts" | "shared-expert" | "dispatch" | "combine" | "other" | "input-preparation" | "embedding" | "final-norm" | "lm-head" | "sampling" | "draft";
        count: number;
        device_ns: number;
        gap_ns: number;
        evidence: "kernel" | "category" | "";
        sites: {
          frame: string;
          modules: string[];
        }[];
        more_sites?: number;
      }[];
    };
    idle?: {
      window_ns: number;
      busy_ns: number;
      may_be_busy_ns?: number;
      requests?: "unknown" | "known" | "shared" | "others";
      requests_uncertainty_ns?: number;
      causes: {
        id: "host-late" | "in-launch-call" | "launch-latency" | "waiting" | "queued" | "in-graph" | "host" | "in-operator" | "between-steps" | "no-request" | "unknown" | "profiler";
        ns: number;
        count: number;
        call?: string;
      }[];
      gaps: {
        device: string;
        start_ns: number;
        dur_ns: number;
        cause: "host-late" | "in-launch-call" | "launch-latency" | "waiting" | "queued" | "in-graph" | "host" | "in-operator" | "between-steps" | "no-request" | "unknown" | "profiler";
        before?: string;
        after?: string;
        host?: string;
        host_is_annotation?: boolean;
        host_track?: string;
      }[];
    };
    digest?: string;
  }[];
  together?: {
    paths: string[];
    devices: {
      device: string;
      on_host?: boolean;
      whole?: boolean;
      gpu_events: number;
      window_start_ns: number;
      window_ns: number;
      busy_ns: number;
      idle_ns?: number;
      compute_ns: number;
      exposed_comm_ns?: number;
      exposed_copy_ns?: number;
      kernel_sum_ns: number;
      kernel_busy_ns: number;
      comm_busy_ns: number;
      copy_busy_ns: number;
      gaps?: {
        count: number;
        over_1us: number;
        over_10us: number;
        over_100us: number;
        over_1ms: number;
        largest_ns: number;
      };
      overlaps: {
        kinds: string[];
        ns: number;
      }[];
      concurrency: {
        running: number;
        or_more?: boolean;
        ns: number;
      }[];
      streams: {
        stream: string;
        events: number;
        sum_ns: number;
        busy_ns: number;
        overlaps: number;
        compute_ns: number;
        communication_ns: number;
        copy_ns: number;
        memset_ns: number;
        categories: {
          category: string;
          count: number;
          total_ns: number;
        }[];
      }[];
    }[];
    idle?: {
      window_ns: number;
      busy_ns: number;
      may_be_busy_ns?: number;
      requests?: "unknown" | "known" | "shared" | "others";
      requests_uncertainty_ns?: number;
      causes: {
        id: "host-late" | "in-launch-call" | "launch-latency" | "waiting" | "queued" | "in-graph" | "host" | "in-operator" | "between-steps" | "no-request" | "unknown" | "profiler";
        ns: number;
        count: number;
        call?: string;
      }[];
      gaps: {
        device: string;
        start_ns: number;
        dur_ns: number;
        cause: "host-late" | "in-launch-call" | "launch-latency" | "waiting" | "queued" | "in-graph" | "host" | "in-operator" | "between-steps" | "no-request" | "unknown" | "profiler";
        before?: string;
        after?: string;
        host?: string;
        host_is_annotation?: boolean;
        host_track?: string;
      }[];
    };
  }[];
  ranks?: {
    world_size?: number;
    present: number[];
    missing: number[];
    missing_count: number;
    missing_in: {
      worker?: string;
      world_size: number;
      engines: number;
      ranks: number[];
      count: number;
    }[];
    with_trace: number;
    in_all: number;
    table: {
      rank?: number;
      path: string;
      identity?: {
        name: string;
        worker?: string;
        data_parallel?: number;
        pipeline?: number;
        tensor?: number;
        stage?: string;
      };
      whole?: boolean;
      window_ns?: number;
      busy_ns?: number;
      idle_ns?: number;
      compute_ns?: number;
      exposed_comm_ns?: number;
      exposed_copy_ns?: number;
      comm_busy_ns?: number;
      kernel_sum_ns?: number;
      steps: number;
      start_unix_ns?: number;
      recording: number;
    }[];
    busy_spread?: number;
    slowest?: number;
    slowest_compute_ns?: number;
    median_compute_of_others_ns?: number;
    blame?: {
      absent?: string;
      method?: string;
      class?: string;
      transfer_ns?: number;
      waiting_ns?: number;
      collectives?: number;
      matched_share?: number;
      residual_ns?: number;
      collectives_of_class?: Record<string, number>;
      table?: {
        rank?: number;
        path: string;
        row: number;
        collectives: number;
        last: number;
        transfer_ns: number;
        suffered_ns: number;
        caused_ns: number;
        late_ns: number;
        stands_out: boolean;
        caused_by: {
          id: string;
          ns: number;
        }[];
      }[];
      groups?: {
        kind?: string;
        name?: string;
        class: string;
        collectives: number;
        transfer_ns: number;
        waiting_ns: number;
        rows: number[];
      }[];
      sizes?: {
        op: string;
        group?: string;
        ranks: number;
        bytes: number;
        count: number;
        transfer_ns: number;
        transfer_sum_ns: number;
        algbw_gigabytes_per_second: number;
        busbw_gigabytes_per_second: number;
      }[];
      sizes_left_out?: number;
      experts?: {
        absent?: string;
        layers?: number;
        exchanged?: number;
        steps?: number;
        slowest_ns?: number;
        above_mean_ns?: number;
        above_mean_a_step_ns?: number;
        imbalance?: number;
        waiting_ns?: number;
        table?: {
          rank?: number;
          path: string;
          row: number;
          layers: number;
          longest: number;
          others: number;
          gemms_ns: number;
          longer_ns: number;
          caused_ns: number;
          cost_a_step_ns?: number;
          stands_out: boolean;
        }[];
      };
    };
    warnings: string[];
  };
  requests?: {
    method?: string;
    join: string;
    tied_share?: number;
    clock_error_ns?: number;
    list: {
      id: string;
      worker?: string;
      scenario?: string;
      whole: boolean;
      lacks?: string;
      prompt_tokens?: number;
      tokens: number;
      ttft_ns?: number;
      e2e_ns: number;
      parts: Record<string, number>;
      outside_ns?: number;
      ttft_parts?: Record<string, number>;
      sure?: boolean;
      trace?: number;
      first_step?: number;
      last_step?: number;
    }[];
    bands: {
      from: number;
      to: number;
      count: number;
      tokens?: number;
      e2e_ns?: number;
      parts?: Record<string, number>;
    }[];
    scenarios: {
      scenario: string;
      count: number;
      tokens?: number;
      e2e_ns?: number;
      parts?: Record<string, number>;
    }[];
    slowest?: {
      more_ns: number;
      tokens: number;
      median_tokens: number;
      parts: {
        part: string;
        more_ns: number;
      }[];
    };
  };
  skipped: string[];
  captures?: string[];
  failed?: string[];
  unproven?: string[];
}
