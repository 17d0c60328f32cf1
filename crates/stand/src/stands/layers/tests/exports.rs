//! Layers that hand out what lies below and take it in again.

use super::check;
use expect_test::expect;

#[test]
fn a_device_over_nvme() {
    check(
        "- loop: {directory: /x, size: 16MiB}\n- nvme_of: {transport: tcp}",
        expect![[r#"
            # mount the kernel's configuration
            modprobe configfs
            mount -t configfs configfs /sys/kernel/config
            # make the subsystem nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            modprobe nvmet
            modprobe nvmet_tcp
            mkdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            echo 1 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/attr_allow_any_host
            # export /dev/loop over NVMe-oF
            mkdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1
            echo /dev/loop > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/device_path
            echo 145afc32-b163-4621-a38a-63c80c0b4e27 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/device_uuid
            echo 1 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/enable
            # open the port /sys/kernel/config/nvmet/ports/37797
            mkdir -- /sys/kernel/config/nvmet/ports/37797
            echo ipv4 > /sys/kernel/config/nvmet/ports/37797/addr_adrfam
            echo 127.0.0.1 > /sys/kernel/config/nvmet/ports/37797/addr_traddr
            echo 27797 > /sys/kernel/config/nvmet/ports/37797/addr_trsvcid
            echo tcp > /sys/kernel/config/nvmet/ports/37797/addr_trtype
            # offer nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce on port 37797
            ln --symbolic -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce /sys/kernel/config/nvmet/ports/37797/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # connect to nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            modprobe nvme_tcp
            nvme connect --transport=tcp --traddr=127.0.0.1 --trsvcid=27797 --nqn=nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # undo
            nvme disconnect --nqn=nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rm -- /sys/kernel/config/nvmet/ports/37797/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rmdir -- /sys/kernel/config/nvmet/ports/37797
            echo 0 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/enable
            rmdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1
            rmdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # makes NVME[145afc32-b163-4621-a38a-63c80c0b4e27]
        "#]],
    );
    check(
        "- loop: {directory: /x, size: 16MiB}\n- nvme_of: {transport: loop}",
        expect![[r#"
            # mount the kernel's configuration
            modprobe configfs
            mount -t configfs configfs /sys/kernel/config
            # make the subsystem nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            modprobe nvmet
            modprobe nvme_loop
            mkdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            echo 1 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/attr_allow_any_host
            # export /dev/loop over NVMe-oF
            mkdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1
            echo /dev/loop > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/device_path
            echo 145afc32-b163-4621-a38a-63c80c0b4e27 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/device_uuid
            echo 1 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/enable
            # open the port /sys/kernel/config/nvmet/ports/37797
            mkdir -- /sys/kernel/config/nvmet/ports/37797
            echo loop > /sys/kernel/config/nvmet/ports/37797/addr_trtype
            # offer nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce on port 37797
            ln --symbolic -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce /sys/kernel/config/nvmet/ports/37797/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # connect to nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            nvme connect --transport=loop --nqn=nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # undo
            nvme disconnect --nqn=nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rm -- /sys/kernel/config/nvmet/ports/37797/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rmdir -- /sys/kernel/config/nvmet/ports/37797
            echo 0 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/enable
            rmdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1
            rmdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # makes NVME[145afc32-b163-4621-a38a-63c80c0b4e27]
        "#]],
    );
}

#[test]
fn devices_over_iscsi_with_one_path() {
    check(
        "- loop: {directory: /x, size: 16MiB}\n- iscsi: {}",
        expect![[r#"
            # mount the kernel's configuration
            modprobe configfs
            mount -t configfs configfs /sys/kernel/config
            # load the kernel's iSCSI target
            modprobe target_core_mod
            modprobe target_core_iblock
            modprobe iscsi_target_mod
            mkdir -- /sys/kernel/config/target/iscsi
            # make /sys/kernel/config/target/core/iblock_12003
            mkdir -- /sys/kernel/config/target/core/iblock_12003
            # export /dev/loop over iSCSI
            mkdir -- /sys/kernel/config/target/core/iblock_12003/disk1
            echo udev_path=/dev/loop > /sys/kernel/config/target/core/iblock_12003/disk1/control
            echo 5218d14a-c43a-4ca2-ac3d-95ae1636a69b > /sys/kernel/config/target/core/iblock_12003/disk1/wwn/vpd_unit_serial
            echo 1 > /sys/kernel/config/target/core/iblock_12003/disk1/enable
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            # make the target iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/authentication
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/demo_mode_write_protect
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/cache_dynamic_acls
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/generate_node_acls
            # make disk1 unit 0
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0
            ln --symbolic -- /sys/kernel/config/target/core/iblock_12003/disk1 /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0/disk1
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            # open iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/enable
            # start the initiator of iSCSI
            modprobe iscsi_tcp
            iscsid
            # log in to iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 at 127.0.0.1:42003
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op new
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op update --name node.startup --value manual
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --login
            # undo
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --logout
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op delete
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/enable
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            rm -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0/disk1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            rmdir -- /sys/kernel/config/target/core/iblock_12003/disk1
            rmdir -- /sys/kernel/config/target/core/iblock_12003
            # makes ISCSI[5218d14a-c43a-4ca2-ac3d-95ae1636a69b:42003]
        "#]],
    );
}

#[test]
fn a_device_over_two_paths_of_iscsi() {
    check(
        "- loop: {directory: /x, size: 16MiB}\n- iscsi: {paths: 2, policy: round-robin}",
        expect![[r#"
            # mount the kernel's configuration
            modprobe configfs
            mount -t configfs configfs /sys/kernel/config
            # load the kernel's iSCSI target
            modprobe target_core_mod
            modprobe target_core_iblock
            modprobe iscsi_target_mod
            mkdir -- /sys/kernel/config/target/iscsi
            # make /sys/kernel/config/target/core/iblock_12003
            mkdir -- /sys/kernel/config/target/core/iblock_12003
            # export /dev/loop over iSCSI
            mkdir -- /sys/kernel/config/target/core/iblock_12003/disk1
            echo udev_path=/dev/loop > /sys/kernel/config/target/core/iblock_12003/disk1/control
            echo 5218d14a-c43a-4ca2-ac3d-95ae1636a69b > /sys/kernel/config/target/core/iblock_12003/disk1/wwn/vpd_unit_serial
            echo 1 > /sys/kernel/config/target/core/iblock_12003/disk1/enable
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            # make the target iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/authentication
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/demo_mode_write_protect
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/cache_dynamic_acls
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/generate_node_acls
            # make disk1 unit 0
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0
            ln --symbolic -- /sys/kernel/config/target/core/iblock_12003/disk1 /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0/disk1
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42004
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42004
            # open iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/enable
            # start the initiator of iSCSI
            modprobe iscsi_tcp
            iscsid
            # log in to iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 at 127.0.0.1:42003
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op new
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op update --name node.startup --value manual
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --login
            # log in to iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 at 127.0.0.1:42004
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --op new
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --op update --name node.startup --value manual
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --login
            # find the disks at 127.0.0.1:42003
            # find the disks at 127.0.0.1:42004
            # join 2 paths to stend-x-iscsi-1
            dmsetup create stend-x-iscsi-1 --uuid STEND-mpath-fbfde798-0269-45d9-a851-4ab1e3eaa720 --table '0 204800 multipath 0 0 1 1 round-robin 0 2 0 ISCSI[5218d14a-c43a-4ca2-ac3d-95ae1636a69b:42003] ISCSI[5218d14a-c43a-4ca2-ac3d-95ae1636a69b:42004]'
            # undo
            dmsetup remove --retry stend-x-iscsi-1
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --logout
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --op delete
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --logout
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op delete
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/enable
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42004
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            rm -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0/disk1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            rmdir -- /sys/kernel/config/target/core/iblock_12003/disk1
            rmdir -- /sys/kernel/config/target/core/iblock_12003
            # makes /dev/mapper/stend-x-iscsi-1
        "#]],
    );
}

#[test]
fn a_directory_over_nfs() {
    check(
        "- existing: {directory: /mnt/x}\n- nfs: {options: [noatime]}",
        expect![[r#"
            # mount the control of the NFS server
            modprobe nfsd
            mount -t nfsd nfsd /proc/fs/nfsd
            # start rpc.mountd
            rpc.mountd --no-nfs-version 2 --no-nfs-version 3
            # start the NFS server
            echo -3 > /proc/fs/nfsd/versions
            echo 8 > /proc/fs/nfsd/threads
            echo Y > /proc/fs/nfsd/v4_end_grace
            # export /dev/existing over NFS to 127.0.0.1
            exportfs -o rw,sync,no_root_squash,insecure,no_subtree_check,fsid=f6b3f714-7c24-4295-aa10-bc7ac850837d 127.0.0.1:/dev/existing
            # make the directory /run/stend/stands/x-nfs
            mkdir --parents -- /run/stend/stands/x-nfs
            # mount 127.0.0.1:/dev/existing at /run/stend/stands/x-nfs
            mount -t nfs4 -o vers=4.2,noatime 127.0.0.1:/dev/existing /run/stend/stands/x-nfs
            # undo
            umount -- /run/stend/stands/x-nfs
            rmdir -- /run/stend/stands/x-nfs
            exportfs -u 127.0.0.1:/dev/existing
            echo … > /proc/fs/nfsd/threads  # what was there before
            # makes /run/stend/stands/x-nfs
        "#]],
    );
}

#[test]
fn a_device_over_two_paths_of_nvme_one_of_them_preferred() {
    check(
        "- loop: {directory: /x, size: 16MiB}\n- nvme_of: {transport: tcp, paths: 2, active: 1, policy: round-robin}",
        expect![[r#"
            # check that the kernel joins NVMe paths
            modprobe nvme_core
            echo Y > /sys/module/nvme_core/parameters/multipath
            # mount the kernel's configuration
            modprobe configfs
            mount -t configfs configfs /sys/kernel/config
            # make the subsystem nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            modprobe nvmet
            modprobe nvmet_tcp
            mkdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            echo 1 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/attr_allow_any_host
            # export /dev/loop over NVMe-oF
            mkdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1
            echo /dev/loop > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/device_path
            echo 145afc32-b163-4621-a38a-63c80c0b4e27 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/device_uuid
            echo 1 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/enable
            # open the port /sys/kernel/config/nvmet/ports/37797
            mkdir -- /sys/kernel/config/nvmet/ports/37797
            echo ipv4 > /sys/kernel/config/nvmet/ports/37797/addr_adrfam
            echo 127.0.0.1 > /sys/kernel/config/nvmet/ports/37797/addr_traddr
            echo 27797 > /sys/kernel/config/nvmet/ports/37797/addr_trsvcid
            echo tcp > /sys/kernel/config/nvmet/ports/37797/addr_trtype
            # offer nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce on port 37797
            ln --symbolic -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce /sys/kernel/config/nvmet/ports/37797/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # open the port /sys/kernel/config/nvmet/ports/37798
            mkdir -- /sys/kernel/config/nvmet/ports/37798
            echo ipv4 > /sys/kernel/config/nvmet/ports/37798/addr_adrfam
            echo 127.0.0.1 > /sys/kernel/config/nvmet/ports/37798/addr_traddr
            echo 27798 > /sys/kernel/config/nvmet/ports/37798/addr_trsvcid
            echo non-optimized > /sys/kernel/config/nvmet/ports/37798/ana_groups/1/ana_state
            echo tcp > /sys/kernel/config/nvmet/ports/37798/addr_trtype
            # offer nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce on port 37798
            ln --symbolic -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce /sys/kernel/config/nvmet/ports/37798/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # connect to nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce at 27797
            modprobe nvme_tcp
            nvme connect --transport=tcp --traddr=127.0.0.1 --trsvcid=27797 --nqn=nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # connect to nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce at 27798
            modprobe nvme_tcp
            nvme connect --transport=tcp --traddr=127.0.0.1 --trsvcid=27798 --nqn=nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # have paths chosen by round-robin
            echo round-robin > NVME-SUBSYSTEM[nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce]/iopolicy
            # undo
            nvme disconnect --device=NVME-AT[27798]
            nvme disconnect --device=NVME-AT[27797]
            rm -- /sys/kernel/config/nvmet/ports/37798/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rmdir -- /sys/kernel/config/nvmet/ports/37798
            rm -- /sys/kernel/config/nvmet/ports/37797/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rmdir -- /sys/kernel/config/nvmet/ports/37797
            echo 0 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/enable
            rmdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1
            rmdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # makes NVME[145afc32-b163-4621-a38a-63c80c0b4e27]
        "#]],
    );
}

#[test]
fn devices_over_nbd() {
    check(
        "- loop: {directory: /x, size: 16MiB, count: 2}\n- {nbd: {}, on: [loop/1, loop/2]}",
        expect![[r#"
            # start nbd-server on port 57059
            mkdir --parents -- /run/stend/nbd
            echo '[generic]
            listenaddr = 127.0.0.1
            port = 57059
            [d2f161dd-c418-4be8-addf-65253506b5c6]
            exportname = /dev/loop
            flush = true
            fua = true
            trim = true
            [1b86732f-2384-44f8-a5ef-a4506188dbef]
            exportname = /dev/loop
            flush = true
            fua = true
            trim = true' > /run/stend/nbd/stend-x-nbd.conf
            prlimit --nofile=1024:1024 nbd-server -C /run/stend/nbd/stend-x-nbd.conf -p /run/stend/nbd/stend-x-nbd.pid
            # import /dev/loop over NBD
            modprobe nbd
            mkdir --parents -- /run/stend/nbd
            nbd-client 127.0.0.1 57059 NBD[d2f161dd-c418-4be8-addf-65253506b5c6] -name d2f161dd-c418-4be8-addf-65253506b5c6
            # import /dev/loop over NBD
            modprobe nbd
            mkdir --parents -- /run/stend/nbd
            nbd-client 127.0.0.1 57059 NBD[1b86732f-2384-44f8-a5ef-a4506188dbef] -name 1b86732f-2384-44f8-a5ef-a4506188dbef
            # undo
            nbd-client -d NBD[1b86732f-2384-44f8-a5ef-a4506188dbef]
            nbd-client -d NBD[d2f161dd-c418-4be8-addf-65253506b5c6]
            pkill --exact nbd-server --pidfile /run/stend/nbd/stend-x-nbd.pid
            rm -- /run/stend/nbd/stend-x-nbd.conf
            # makes NBD[d2f161dd-c418-4be8-addf-65253506b5c6] NBD[1b86732f-2384-44f8-a5ef-a4506188dbef]
        "#]],
    );
}

#[test]
fn a_device_over_nvme_and_one_over_iscsi_through_a_card_of_the_kernel() {
    check(
        "- loop: {directory: /x, size: 16MiB}\n- nvme_of: {transport: rdma}",
        expect![[r#"
            # make the interface stend37797 with a card for RDMA
            modprobe rdma_rxe
            ip link add stend37797 type dummy
            ip address add 198.18.147.165/32 dev stend37797
            ip link set stend37797 up
            rdma link add stend37797 type rxe netdev stend37797
            # mount the kernel's configuration
            modprobe configfs
            mount -t configfs configfs /sys/kernel/config
            # make the subsystem nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            modprobe nvmet
            modprobe nvmet_rdma
            mkdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            echo 1 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/attr_allow_any_host
            # export /dev/loop over NVMe-oF
            mkdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1
            echo /dev/loop > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/device_path
            echo 145afc32-b163-4621-a38a-63c80c0b4e27 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/device_uuid
            echo 1 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/enable
            # open the port /sys/kernel/config/nvmet/ports/37797
            mkdir -- /sys/kernel/config/nvmet/ports/37797
            echo ipv4 > /sys/kernel/config/nvmet/ports/37797/addr_adrfam
            echo 198.18.147.165 > /sys/kernel/config/nvmet/ports/37797/addr_traddr
            echo 27797 > /sys/kernel/config/nvmet/ports/37797/addr_trsvcid
            echo rdma > /sys/kernel/config/nvmet/ports/37797/addr_trtype
            # offer nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce on port 37797
            ln --symbolic -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce /sys/kernel/config/nvmet/ports/37797/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # connect to nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            modprobe nvme_rdma
            nvme connect --transport=rdma --traddr=198.18.147.165 --trsvcid=27797 --nqn=nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            # undo
            nvme disconnect --nqn=nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rm -- /sys/kernel/config/nvmet/ports/37797/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rmdir -- /sys/kernel/config/nvmet/ports/37797
            echo 0 > /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1/enable
            rmdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce/namespaces/1
            rmdir -- /sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.nvmexpress:uuid:e57dac5c-d2b2-4c97-a46a-c2c9d37ca7ce
            rdma link delete stend37797
            ip link delete stend37797
            # makes NVME[145afc32-b163-4621-a38a-63c80c0b4e27]
        "#]],
    );
    check(
        "- loop: {directory: /x, size: 16MiB}\n- iscsi: {transport: iser}",
        expect![[r#"
            # make the interface stend12003 with a card for RDMA
            modprobe rdma_rxe
            ip link add stend12003 type dummy
            ip address add 198.18.46.227/32 dev stend12003
            ip link set stend12003 up
            rdma link add stend12003 type rxe netdev stend12003
            # mount the kernel's configuration
            modprobe configfs
            mount -t configfs configfs /sys/kernel/config
            # load the kernel's iSCSI target
            modprobe target_core_mod
            modprobe target_core_iblock
            modprobe iscsi_target_mod
            mkdir -- /sys/kernel/config/target/iscsi
            # make /sys/kernel/config/target/core/iblock_12003
            mkdir -- /sys/kernel/config/target/core/iblock_12003
            # export /dev/loop over iSCSI
            mkdir -- /sys/kernel/config/target/core/iblock_12003/disk1
            echo udev_path=/dev/loop > /sys/kernel/config/target/core/iblock_12003/disk1/control
            echo 5218d14a-c43a-4ca2-ac3d-95ae1636a69b > /sys/kernel/config/target/core/iblock_12003/disk1/wwn/vpd_unit_serial
            echo 1 > /sys/kernel/config/target/core/iblock_12003/disk1/enable
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            # make the target iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/authentication
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/demo_mode_write_protect
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/cache_dynamic_acls
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/generate_node_acls
            # make disk1 unit 0
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0
            ln --symbolic -- /sys/kernel/config/target/core/iblock_12003/disk1 /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0/disk1
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/198.18.46.227:42003
            modprobe ib_isert
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/198.18.46.227:42003
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/198.18.46.227:42003/iser
            # open iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/enable
            # start the initiator of iSCSI
            modprobe iscsi_tcp
            iscsid
            # log in to iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 at 198.18.46.227:42003
            modprobe ib_iser
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 198.18.46.227:42003 --op new --interface iser
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 198.18.46.227:42003 --op update --name node.startup --value manual
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 198.18.46.227:42003 --login
            # undo
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 198.18.46.227:42003 --logout
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 198.18.46.227:42003 --op delete
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/enable
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/198.18.46.227:42003
            rm -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0/disk1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            rmdir -- /sys/kernel/config/target/core/iblock_12003/disk1
            rmdir -- /sys/kernel/config/target/core/iblock_12003
            rdma link delete stend12003
            ip link delete stend12003
            # makes ISCSI[5218d14a-c43a-4ca2-ac3d-95ae1636a69b:42003]
        "#]],
    );
}
