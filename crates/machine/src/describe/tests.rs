//! Machines that are not here, from the text of their files, shortened to what is read.

use super::*;
use crate::os::source::Captured;

const AMPERE: &str = "\
== etc/os-release
NAME=\"Ubuntu\"
PRETTY_NAME=\"Ubuntu 20.04.2 LTS\"
== proc/sys/kernel/osrelease
5.4.0-1050-oracle
== proc/cpuinfo
processor\t: 0
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer\t: 0x41
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1

processor\t: 1
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer\t: 0x41
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1
== sys/class/dmi/id/sys_vendor
QEMU
== sys/class/dmi/id/product_name
KVM Virtual Machine
== sys/class/dmi/id/product_version
virt-4.2
== sys/devices/system/cpu/online
0-1
== sys/devices/system/cpu/cpu0/topology/physical_package_id
0
== sys/devices/system/cpu/cpu0/topology/core_cpus_list
0
== sys/devices/system/cpu/cpu1/topology/physical_package_id
0
== sys/devices/system/cpu/cpu1/topology/core_cpus_list
1
== sys/devices/system/clocksource/clocksource0/current_clocksource
arch_sys_counter
";

#[test]
fn an_ampere_guest_of_a_cloud() {
    let machine = Machine::from_files(&Captured::new(AMPERE));
    assert_eq!(machine.system.name.as_deref(), Some("Ubuntu 20.04.2 LTS"));
    assert_eq!(machine.system.kernel.as_deref(), Some("Linux 5.4.0-1050-oracle"));
    assert_eq!(machine.processor.model.as_deref(), Some("ARM Neoverse-N1"));
    assert_eq!(machine.processor.revision.as_deref(), Some("r3p1"));
    assert!(machine.processor.features.contains(&"pmull".to_owned()));
    assert_eq!(machine.host.board.as_deref(), Some("QEMU KVM Virtual Machine virt-4.2"));
    assert_eq!(machine.host.hypervisor.as_deref(), Some("QEMU"));
    let Topology { cpus, sockets, cores, .. } = machine.topology;
    assert_eq!((cpus, sockets, cores), (Some(2), Some(1), Some(2)));
    assert!(machine.caches.is_empty(), "such guests show none");
    assert_eq!(machine.memory.total_bytes, None);
    assert_eq!(machine.timers.source.as_deref(), Some("arch_sys_counter"));
}

#[test]
fn a_raspberry_pi_with_a_32_bit_kernel() {
    let machine = Machine::from_files(
        &Captured::new(
            "\
== etc/os-release
PRETTY_NAME=\"Raspbian GNU/Linux 10 (buster)\"
== proc/cpuinfo
processor\t: 0
model name\t: ARMv7 Processor rev 3 (v7l)
Features\t: half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae evtstrm crc32
CPU implementer\t: 0x41
CPU architecture: 7
CPU variant\t: 0x0
CPU part\t: 0xd08
CPU revision\t: 3

Hardware\t: BCM2711
Revision\t: c03111
Serial\t\t: 100000000
Model\t\t: Raspberry Pi 4 Model B Rev 1.1
== sys/devices/system/cpu/online
0
== sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq
1500000
== sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
ondemand
== sys/devices/system/cpu/cpu0/cache/index0/level
1
== sys/devices/system/cpu/cpu0/cache/index0/type
Data
== sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list
0
== proc/meminfo
MemTotal:        3999784 kB
MemFree:         3471920 kB
",
        )
        .with("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.1\0"),
    );
    assert_eq!(machine.processor.model.as_deref(), Some("ARM Cortex-A72"));
    assert_eq!(machine.processor.revision.as_deref(), Some("r0p3"));
    assert_eq!(machine.processor.frequency_hz_max, Some(1_500_000_000));
    assert_eq!(machine.processor.governor.as_deref(), Some("ondemand"));
    let board = machine.host.board.as_deref();
    assert_eq!(board, Some("Raspberry Pi 4 Model B Rev 1.1 (BCM2711)"));
    assert_eq!(machine.host.hypervisor, None);
    assert_eq!(machine.caches.len(), 1);
    assert_eq!((machine.caches[0].size_bytes, machine.caches[0].line_bytes), (None, None));
    assert_eq!(machine.memory.total_bytes, Some(3_999_784 * 1024));
    assert_eq!(machine.memory.available_bytes, None);
    assert!(machine.text().contains("L1 data: 1 x unknown size, shared by 1 thread\n"));
}

/// Two sockets of two cores of two threads each: threads 0 and 4 are one core.
fn epyc() -> Captured {
    let mut source = Captured::new(
        "\
== etc/os-release
PRETTY_NAME='AlmaLinux 9.4 (Seafoam Ocelot)'
== proc/cpuinfo
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 1
model name\t: AMD EPYC 7763 64-Core Processor
stepping\t: 1
microcode\t: 0xa0011d1
flags\t\t: fpu sse4_2 popcnt aes avx fma avx2 bmi2 sha_ni vaes vpclmulqdq
== sys/devices/system/cpu/online
0-7
== sys/devices/system/cpu/cpufreq/boost
1
== sys/class/dmi/id/sys_vendor
GIGABYTE
== sys/class/dmi/id/product_name
R282-Z93-00
== sys/class/dmi/id/product_version
0100
== sys/devices/system/node/node0/cpulist
0-1,4-5
== sys/devices/system/node/node0/meminfo
Node 0 MemTotal:       263780488 kB
Node 0 MemFree:        100000000 kB
== sys/devices/system/node/node1/cpulist
2-3,6-7
== sys/devices/system/node/node1/meminfo
Node 1 MemTotal:       264228128 kB
== sys/kernel/mm/transparent_hugepage/enabled
[always] madvise never
== sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages
0
== sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
512
== sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages
500
",
    );
    for cpu in 0..8 {
        let (core, socket) = (cpu % 4, cpu % 4 / 2);
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        let siblings = format!("{core},{}", core + 4);
        let of_socket =
            format!("{}-{},{}-{}", 2 * socket, 2 * socket + 1, 2 * socket + 4, 2 * socket + 5);
        source = source
            .with(&format!("{folder}/topology/physical_package_id"), &socket.to_string())
            .with(&format!("{folder}/topology/thread_siblings_list"), &siblings);
        for (index, level, kind, size, shared) in [
            (0, 1, "Data", "32K", &siblings),
            (1, 1, "Instruction", "32K", &siblings),
            (2, 2, "Unified", "512K", &siblings),
            (3, 3, "Unified", "32768K", &of_socket),
        ] {
            let cache = format!("{folder}/cache/index{index}");
            source = source
                .with(&format!("{cache}/level"), &level.to_string())
                .with(&format!("{cache}/type"), kind)
                .with(&format!("{cache}/size"), size)
                .with(&format!("{cache}/coherency_line_size"), "64")
                .with(&format!("{cache}/ways_of_associativity"), "8")
                .with(&format!("{cache}/shared_cpu_list"), shared);
        }
    }
    source
}

#[test]
fn a_server_with_two_sockets_and_two_threads_a_core() {
    let machine = Machine::from_files(&epyc());
    let Topology { cpus, sockets, cores, numa_nodes } = &machine.topology;
    assert_eq!((*cpus, *sockets, *cores), (Some(8), Some(2), Some(4)));
    assert_eq!(numa_nodes[1].cpus, "2-3,6-7");
    assert_eq!(numa_nodes[1].memory_bytes, Some(264_228_128 * 1024));
    assert_eq!(machine.processor.revision.as_deref(), Some("25/1/1"));
    assert_eq!(machine.processor.has_boost, Some(true));
    assert_eq!(machine.host.board.as_deref(), Some("GIGABYTE R282-Z93-00 0100"));
    assert_eq!(machine.host.hypervisor, None);
    let caches = machine.caches.iter().map(|c| (c.level, &*c.kind, c.shared_by, c.instances));
    let expected =
        [(1, "data", 2, 4), (1, "instruction", 2, 4), (2, "unified", 2, 4), (3, "unified", 4, 2)];
    assert_eq!(caches.collect::<Vec<_>>(), expected);
    let pools = &machine.memory.huge_pages.pools;
    assert_eq!((pools[0].page_bytes, pools[0].free), (2 << 20, Some(500)));
    assert_eq!((pools[1].page_bytes, pools[1].free), (1 << 30, None));
}

#[test]
fn the_text_of_a_server() {
    let mut machine = Machine::from_files(&epyc());
    machine.system.architecture = "x86_64".into();
    machine.levels = Levels {
        found: vec!["scalar".into(), "sse2".into(), "avx2".into()],
        chosen: Some("sse2".into()),
        is_forced: true,
    };
    machine.timers = Timers {
        source: Some("tsc".into()),
        register: Some("TSC".into()),
        register_is_invariant: Some(true),
        register_hz: Some(2_450_000_000.0),
        clocks: vec![Timer { name: "wall time".into(), cost_ns: 21.5, step_ns: 10.0 }],
    };
    let expected = "\
system       AlmaLinux 9.4 (Seafoam Ocelot)
processor    8 x AMD EPYC 7763 64-Core Processor (x86_64)
             revision 25/1/1, microcode 0xa0011d1, boost on
host         GIGABYTE R282-Z93-00 0100
topology     2 sockets, 4 cores, 8 threads, 2 memory nodes
memory node  0: processors 0-1,4-5, 251.6 GiB
             1: processors 2-3,6-7, 252 GiB
caches       L1 data: 4 x 32 KiB, lines of 64 bytes, 8 ways, shared by 2 threads each
             L1 instruction: 4 x 32 KiB, lines of 64 bytes, 8 ways, shared by 2 threads each
             L2: 4 x 512 KiB, lines of 64 bytes, 8 ways, shared by 2 threads each
             L3: 2 x 32 MiB, lines of 64 bytes, 8 ways, shared by 4 threads each
memory       unknown
huge pages   transparent: always; 2 MiB: 512 reserved, 500 free; 1 GiB: 0 reserved, ? free
limits       memory unlimited, locked memory unlimited
features     sse4_2 popcnt aes sha_ni avx fma bmi2 avx2 vaes vpclmulqdq
levels       scalar sse2 avx2; sse2 chosen (forced by FATHOM_LEVEL)
timers       kernel's source tsc, register TSC at 2450.0 MHz, constant rate
             wall time           21.5 ns a read, steps of 10.0 ns
";
    assert_eq!(machine.text(), expected);
}

#[test]
fn a_container_that_hides_everything() {
    let machine = Machine::from_files(&Captured::new(""));
    let nothing = Machine {
        system: System { architecture: std::env::consts::ARCH.into(), ..System::default() },
        ..Machine::default()
    };
    assert_eq!(machine, nothing);
    assert!(machine.title().starts_with("? x unknown processor ("));
}

#[test]
fn a_container_that_hides_sys_but_not_proc() {
    let machine = Machine::from_files(&Captured::new(
        "\
== .dockerenv

== proc/cpuinfo
processor\t: 0
model name\t: Intel(R)  Core(TM) i5-7200U CPU   @ 2.50GHz
flags\t\t: fpu hypervisor avx2

processor\t: 1
model name\t: Intel(R)  Core(TM) i5-7200U CPU   @ 2.50GHz
== proc/self/cgroup
0::/
== sys/fs/cgroup/memory.max
2147483648
== sys/fs/cgroup/cpu.max
50000 100000
",
    ));
    assert_eq!(machine.system.container.as_deref(), Some("docker"));
    assert_eq!(machine.topology.cpus, Some(2));
    assert_eq!(machine.topology.cores, None);
    let model = machine.processor.model.as_deref();
    assert_eq!(model, Some("Intel(R) Core(TM) i5-7200U CPU @ 2.50GHz"));
    assert_eq!(machine.host.hypervisor.as_deref(), Some("unknown"));
    assert_eq!(machine.limits.memory_bytes, Some(2 << 30));
    assert_eq!(machine.limits.cpu_quota, Some(0.5));
}

#[test]
fn files_full_of_nonsense_are_no_danger() {
    let paths = [
        "etc/os-release",
        "proc/cpuinfo",
        "proc/meminfo",
        "proc/self/cgroup",
        "proc/self/limits",
        "sys/devices/system/cpu/online",
        "sys/devices/system/cpu/cpu0/topology/physical_package_id",
        "sys/devices/system/cpu/cpu0/cache/index0/level",
        "sys/devices/system/cpu/cpu0/cache/index0/type",
        "sys/devices/system/cpu/cpu0/cache/index0/size",
        "sys/devices/system/node/node0/meminfo",
        "sys/kernel/mm/hugepages/hugepages-99999999999999999999kB/nr_hugepages",
        "sys/kernel/mm/hugepages/hugepages-18446744073709551615kB/nr_hugepages",
        "sys/kernel/mm/transparent_hugepage/enabled",
        "sys/fs/cgroup/memory.max",
        "sys/fs/cgroup/cpu.max",
    ];
    for text in [
        "0", "-1", "18446744073709551615", "0-65535", "9-1", ":::\n::",
        "MemTotal: 18446744073709551615 kB\nMax locked memory", "0::/../../..//x\n1:memory:", "[",
        "PRETTY_NAME=\"", "\u{fffd}\0\u{1}", "1 0", "nan nan",
        "processor : \nCPU part : \nCPU implementer : 0x",
    ] {
        let source = paths.iter().fold(Captured::new(""), |source, path| source.with(path, text));
        let machine = Machine::from_files(&source);
        assert!(machine.text().ends_with('\n'));
    }
}

#[test]
fn this_machine_is_described_and_survives_json() {
    let machine = Machine::here();
    assert!(machine.system.kernel.as_deref().is_some_and(|kernel| kernel.starts_with("Linux ")));
    assert!(machine.limits.allowed_cpus.is_some_and(|cpus| cpus > 0));
    assert!(machine.levels.found.contains(&"scalar".to_owned()));
    assert_eq!(machine.timers.clocks.len(), Clock::ALL.len());
    let json = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&json).unwrap(), machine);
}
